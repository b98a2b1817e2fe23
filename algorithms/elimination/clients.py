"""The client side of the local and shuffled models: rewards stay with the clients, one report each leaves them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from algorithms.elimination.pulls import Pulls
from algorithms.rewards import ConstantExceptOne, SealedRewards
from dpaudit.channel import sum_by_tag
from dpaudit.claims import InvalidValue
from dpaudit.noise import to_units
from dpaudit.sealed import Sealed, unseal


class SecretAssignment(Protocol):
    """The secret randomness of a shuffler."""

    def permutation(self, n: int) -> np.ndarray: ...
    def slots(self, sizes: np.ndarray) -> np.ndarray: ...


class BatchRecords:
    """The rewards of one batch as clients hold them, lazily: nothing is drawn or summed before the door asks.

    A shuffler assigns the actions to clients in secret; without one, rounds go to the arms in turn.
    """

    def __init__(self, rewards: Any, pulls: Pulls, shuffler: SecretAssignment | None = None) -> None:
        self.rewards, self.pulls, self._shuffler = rewards, pulls, shuffler
        self._tags: np.ndarray | None = None
        self._values: Any = None

    @property
    def secret_assignment(self) -> bool:
        """Does nobody but the shuffler know which client plays which action?"""
        return self._shuffler is not None

    @property
    def n(self) -> int:
        return int(self.pulls.counts.sum(axis=1).max())

    @property
    def counts(self) -> np.ndarray:
        """Reports per arm: (k,) for one run, else (trials, k)."""
        counts, state = self.pulls.counts, self.pulls.state
        return counts[0] if state is None else counts[state]

    @property
    def tags(self) -> np.ndarray:
        """Which action (its place among the arms) the client of each round plays."""
        if self._tags is None:
            if len(self.pulls.counts) != 1:
                raise InvalidValue("reports", "of many plans", "asked for one plan at a time; ask for sums instead")
            ordered = np.repeat(np.arange(self.pulls.counts.shape[1]), self.pulls.counts[0])
            self._tags = self._assignment(ordered)
        return self._tags

    def _assignment(self, ordered: np.ndarray) -> np.ndarray:
        if self._shuffler is None or self.pulls.state is not None:  # trials hide the exception instead: see _hidden_slot
            return ordered
        assigned: np.ndarray = ordered[self._shuffler.permutation(len(ordered))]
        return assigned

    def sealed(self) -> Any:
        return self._ask() if isinstance(self.rewards, SealedRewards) else None

    def _ask(self) -> Any:
        if self._values is None:
            start = int(self.pulls.start[0])
            self._values = self.rewards.each((start, start + self.n), self.pulls.arms[0][self.tags])
        return self._values

    def _hidden_slot(self, rewards: Any) -> tuple[np.ndarray, np.ndarray]:
        """Per trial: is the exceptional client in this batch, and which slot did the shuffler give it?

        All other clients hold one value, so where they sit changes nothing: this is the law of the shuffled pairs.
        """
        if not isinstance(rewards, ConstantExceptOne) or self._shuffler is None:
            raise InvalidValue("rewards", type(rewards).__name__, "ConstantExceptOne or Stochastic for shuffled trials")
        state = self.pulls.state
        start, size = self.pulls.start[state], self.pulls.counts.sum(axis=1)[state]
        inside = (start <= rewards.t) & (rewards.t < start + size)
        return inside, self._shuffler.slots(size)

    def _sums_with_hidden_exception(self, rewards: Any) -> np.ndarray:
        inside, slot = self._hidden_slot(rewards)
        counts = self.counts
        arm = (slot[:, None] >= np.cumsum(counts, axis=1)).sum(axis=1)
        sums: np.ndarray = counts * rewards.base
        sums[np.arange(len(sums)), arm] += inside * (rewards.value - rewards.base)
        return sums

    def units(self, grid: Fraction) -> np.ndarray:
        if self.pulls.state is not None and self._shuffler is not None and not self.rewards.exchangeable:
            inside, slot = self._hidden_slot(self.rewards)
            hidden = np.full((len(slot), self.n), self.rewards.base)
            hidden[np.arange(len(slot)), slot] += inside * (self.rewards.value - self.rewards.base)
            return to_units(hidden, grid)
        values = self._ask()
        units = to_units(unseal(values) if isinstance(values, Sealed) else values, grid)
        trials = self.pulls.state
        return units if trials is None or units.ndim == 2 else np.broadcast_to(units, (len(trials), units.shape[-1]))

    def sum_units(self, grid: Fraction) -> np.ndarray:
        rewards = self.rewards.rewards if isinstance(self.rewards, SealedRewards) else self.rewards
        if self._shuffler is None or rewards.exchangeable:
            return to_units(self.pulls.sums(rewards), grid)
        if self.pulls.state is not None:
            return to_units(self._sums_with_hidden_exception(rewards), grid)
        return sum_by_tag(self.units(grid), self.tags, self.pulls.counts.shape[1])
