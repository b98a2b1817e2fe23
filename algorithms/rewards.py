"""A bandit's private data: what each round's client earned. One interface, four forms, the same algorithm code for all.

Rewards are clipped to [low, high], rounded to the grid 2^-20 and summed exactly. ``rounds`` is a range, or a pair
(start, stop) of numbers or arrays; ``action`` an index or an array of them of the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.sealed import seal_sums, snap
from dpaudit.sealed.array import seal_declared

Rounds = range | tuple[Any, Any]


class Rewards(Protocol):
    """Private rewards. ``sealed`` gives the same data in a form whose sums carry their dependence."""

    low: float
    high: float

    def sum(self, rounds: Rounds, action: Any) -> Any: ...
    def each(self, rounds: Rounds, action: np.ndarray) -> np.ndarray: ...
    def replace(self, t: int, value: float) -> Rewards: ...
    def at(self, index: np.ndarray) -> Rewards: ...


def bounds(rounds: Rounds) -> tuple[Any, Any]:
    return (rounds.start, rounds.stop) if isinstance(rounds, range) else rounds


@dataclass(frozen=True)
class Sequence:
    """Definition 1: the reward of round t is r_t, whatever was played."""

    values: np.ndarray
    low: float = -1.0
    high: float = 1.0
    exchangeable = False
    _prefix: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        snapped = snap(self.values, self.low, self.high)
        object.__setattr__(self, "values", snapped)
        object.__setattr__(self, "_prefix", np.concatenate([np.zeros((1, *snapped.shape[1:])), snapped.cumsum(axis=0)]))

    def sum(self, rounds: Rounds, action: Any) -> Any:
        start, stop = bounds(rounds)
        return self._prefix[stop] - self._prefix[start]

    def each(self, rounds: Rounds, action: np.ndarray) -> np.ndarray:
        start, stop = bounds(rounds)
        return self.values[start:stop]

    def replace(self, t: int, value: float) -> Sequence:
        values = self.values.copy()
        values[t] = value
        return replace(self, values=values)

    def at(self, index: np.ndarray) -> Sequence:
        return self


@dataclass(frozen=True)
class Table(Sequence):
    """x_{t,a} for every action: the reward of round t depends on what was played. Shape (T, K)."""

    def sum(self, rounds: Rounds, action: Any) -> Any:
        start, stop = bounds(rounds)
        return self._prefix[stop, action] - self._prefix[start, action]

    def each(self, rounds: Rounds, action: np.ndarray) -> np.ndarray:
        start, stop = bounds(rounds)
        return self.values[np.arange(start, stop), action]


@dataclass(frozen=True)
class ConstantExceptOne:
    """An audit's case: every round earns ``base``, round ``t`` earns ``value``. O(1) whatever the horizon."""

    base: float
    t: int
    value: float
    low: float = -1.0
    high: float = 1.0
    exchangeable = False

    def __post_init__(self) -> None:
        for name in ("base", "value"):
            object.__setattr__(self, name, float(snap(getattr(self, name), self.low, self.high)))

    def sum(self, rounds: Rounds, action: Any) -> Any:
        start, stop = bounds(rounds)
        inside = (np.asarray(start) <= self.t) & (self.t < np.asarray(stop))
        return (np.asarray(stop) - start) * self.base + inside * (self.value - self.base)

    def each(self, rounds: Rounds, action: np.ndarray) -> np.ndarray:
        start, stop = bounds(rounds)
        values = np.full(stop - start, self.base)
        if start <= self.t < stop:
            values[self.t - start] = self.value
        return values

    def replace(self, t: int, value: float) -> ConstantExceptOne:
        if t != self.t and self.value != self.base:
            raise InvalidValue("t", t, f"{self.t}: this form holds one exception only")
        return replace(self, t=t, value=value)

    def at(self, index: np.ndarray) -> ConstantExceptOne:
        return self


@dataclass(frozen=True)
class Stochastic:
    """The simulated environment: rewards in {low, high} with the given mean per action; sums are binomial.

    ``means`` has shape (K,), or (trials, K) when every trial has an instance of its own.
    """

    means: np.ndarray
    rng: np.random.Generator
    low: float = -1.0
    high: float = 1.0
    index: np.ndarray | None = None
    exchangeable = True  # within a batch, who plays which action does not change the law of the sums

    def probabilities(self, action: Any) -> np.ndarray:
        """P(reward = high) for the actions asked for: action of shape (k,), or (trials, k)."""
        means = self.means if self.means.ndim == 1 or self.index is None else self.means[self.index]
        chosen = means[..., action] if means.ndim == 1 or np.ndim(action) < 2 else np.take_along_axis(means, action, axis=-1)
        result: np.ndarray = np.clip((chosen - self.low) / (self.high - self.low), 0.0, 1.0)
        return result

    def sum(self, rounds: Rounds, action: Any) -> Any:
        start, stop = bounds(rounds)
        n = np.asarray(stop) - start
        hits = self.rng.binomial(n, self.probabilities(action))
        return n * self.low + hits * (self.high - self.low)

    def shared_sums(self, n: np.ndarray, action: np.ndarray, trials: int) -> np.ndarray:
        """The same pulls in many trials of one instance: (trials, k), one scalar binomial law per column."""
        columns = [self.rng.binomial(int(m), p, size=trials) for m, p in zip(n, self.probabilities(action), strict=True)]
        return n * self.low + np.stack(columns, axis=-1) * (self.high - self.low)

    def each(self, rounds: Rounds, action: np.ndarray) -> np.ndarray:
        p = self.probabilities(action)
        trials = () if self.index is None else (len(self.index),)
        hits = self.rng.random((*trials, np.shape(action)[-1])) < p
        return np.where(hits, self.high, self.low)

    def replace(self, t: int, value: float) -> Stochastic:
        raise InvalidValue("rewards", "stochastic", "fixed data (Sequence, Table, ConstantExceptOne) to replace one of them")

    def at(self, index: np.ndarray) -> Stochastic:
        return replace(self, index=index if self.index is None else self.index[index])


@dataclass(frozen=True)
class SealedRewards:
    """The same rewards, sealed: sums and reports carry how they depend on each round."""

    rewards: Any

    @property
    def low(self) -> float:
        return float(self.rewards.low)

    @property
    def high(self) -> float:
        return float(self.rewards.high)

    @property
    def exchangeable(self) -> bool:
        return bool(self.rewards.exchangeable)

    def sum(self, rounds: Rounds, action: Any) -> Any:
        start, stop = (np.broadcast_to(end, np.shape(action)) for end in bounds(rounds))
        size = float(np.max(stop - start, initial=0)) * max(abs(self.low), abs(self.high))
        return seal_sums(self.rewards.sum(rounds, action), start, stop, self.high - self.low, size)

    def each(self, rounds: Rounds, action: np.ndarray) -> Any:
        return seal_declared(self.rewards.each(rounds, action), self.low, self.high, first=bounds(rounds)[0])

    def replace(self, t: int, value: float) -> SealedRewards:
        return SealedRewards(self.rewards.replace(t, value))

    def at(self, index: np.ndarray) -> SealedRewards:
        return self
