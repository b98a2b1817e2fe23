"""Neighbouring rewards of a bandit that is audited from outside: tables (T, K) or sequences (T,) of plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from algorithms.rewards import SealedRewards, Sequence, Table
from dpaudit.claims import InvalidValue
from dpaudit.sealed import snap

RELATIONS = ("reward-table", "reward-sequence")


@dataclass(frozen=True)
class RewardRounds:
    """Rewards of T rounds that differ in one of them: x_{t,a} for all a in a table, r_t in a sequence."""

    name: str
    horizon: int
    actions: int
    low: float
    high: float
    clip: bool = True
    forms: ClassVar[dict[str, type[Sequence]]] = {"reward-table": Table, "reward-sequence": Sequence}

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.horizon, self.actions) if self.name == "reward-table" else (self.horizon,)

    def pairs(self, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
        """A round that is played early and one after each action was tried, on bases that tie the actions or part them."""
        rounds = sorted({0, min(self.actions, self.horizon - 1), self.horizon // 2})
        middle = (self.low + self.high) / 2
        bases = [np.full(self.shape, value) for value in (self.low, middle, self.high)]
        plain = [self._pair(base, t, self.high, self.low) for t in rounds for base in bases]
        if self.name == "reward-sequence":
            return plain
        first = np.where(np.arange(self.actions) == 0, self.high, self.low)
        return [*plain, *(self._pair(bases[1], t, first, self.low + self.high - first) for t in rounds)]

    def _pair(self, base: np.ndarray, t: int, one: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
        first, second = base.copy(), base.copy()
        first[t], second[t] = one, other
        return first, second

    def others(self, rng: np.random.Generator) -> list[np.ndarray]:
        return [
            rng.choice([self.low, self.high], size=self.shape),
            rng.uniform(self.low, self.high, self.shape),
        ]

    def seal(self, data: Any) -> SealedRewards:
        return SealedRewards(self.read(data))

    def read(self, data: Any) -> Any:
        """Numbers as rewards: clipped to the range, or refused outside it. Raises InvalidValue without the data."""
        if isinstance(data, SealedRewards):
            return data
        try:
            values = np.asarray(data, dtype=float)
        except (TypeError, ValueError):
            raise InvalidValue("rewards", type(data).__name__, "an array of numbers") from None
        if values.shape != self.shape:
            raise InvalidValue("rewards", f"of shape {values.shape}", f"of shape {self.shape}")
        if not self.clip and not ((values >= self.low) & (values <= self.high)).all():
            raise InvalidValue("rewards", "a value outside", f"between {self.low:g} and {self.high:g}")
        return self.forms[self.name](values, self.low, self.high)


def relation(name: str, horizon: int, actions: int, low: float, high: float, clip: bool) -> RewardRounds:
    """A relation by its name. Raises InvalidValue."""
    if name not in RELATIONS:
        raise InvalidValue("neighbours", name, "one of " + ", ".join(RELATIONS))
    snap(0.0, low, high)  # checks the range
    return RewardRounds(name, horizon, actions, low, high, clip)
