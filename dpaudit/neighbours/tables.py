"""Neighbouring tables: records of several numbers each, every column in a range of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.sealed.array import seal_declared, snap

Pair = tuple[np.ndarray, np.ndarray]
MADE = 10**6  # numbers in all pairs that are made for a black box


@dataclass(frozen=True)
class Rows:
    """n records, column c in [low[c], high[c]]; a neighbour has one other record or, with ``removal``, lacks one."""

    n: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    removal: bool

    @property
    def name(self) -> str:
        return "add_remove" if self.removal else "replace_one"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        """The one record at all lower ends against all upper ends, or at the ends in turn, among records of four kinds."""
        low, high = np.array(self.low), np.array(self.high)
        in_turn = np.arange(len(low)) % 2 == 0
        changes = [(low, high), (np.where(in_turn, low, high), np.where(in_turn, high, low))]
        crowds = [np.tile(row, (self.n, 1)) for row in (low, high, (low + high) / 2)]
        crowds.append(rng.uniform(low, high, (self.n, len(low))))
        places = sorted({0, self.n - 1, self.n // 2})
        return [self._pair(crowd, place, *ends) for crowd in crowds for place in places for ends in changes]

    def more_pairs(self, rng: np.random.Generator) -> list[Pair]:
        """The one record at any two of the lower ends, the upper ends, the middle and 0, among others at one of them or at both
        ends in turn; for black boxes."""
        low, high = np.array(self.low), np.array(self.high)
        rows = list(np.unique([low, (low + high) / 2, high, np.clip(0.0, low, high)], axis=0))
        crowds = [np.tile(row, (self.n, 1)) for row in rows] + [np.where(np.arange(self.n)[:, None] % 2 == 0, low, high)]
        changes = [(one, other) for place, one in enumerate(rows) for other in rows[:place]]
        places = rng.permutation(self.n)
        made = [(crowd, change) for change in changes for crowd in crowds][: max(MADE // crowds[0].size, 1)]
        return [self._pair(crowd, int(places[k % self.n]), *change) for k, (crowd, change) in enumerate(made)]

    def _pair(self, crowd: np.ndarray, place: int, one: np.ndarray, other: np.ndarray) -> Pair:
        first, second = crowd.copy(), crowd.copy()
        first[place], second[place] = one, other
        if self.removal:
            return snap(second, self.low, self.high), snap(np.delete(second, place, axis=0), self.low, self.high)
        return snap(first, self.low, self.high), snap(second, self.low, self.high)

    def others(self, rng: np.random.Generator) -> list[np.ndarray]:
        shape = (self.n, len(self.low))
        drawn = rng.uniform(self.low, self.high, shape), np.where(rng.random(shape) < 0.5, self.low, self.high)
        return [snap(table, self.low, self.high) for table in drawn]

    def seal(self, data: Any) -> Any:
        return seal_declared(data, self.low, self.high, removal=self.removal)

    @property
    def strategy(self) -> Any:
        """A Hypothesis strategy of pairs: two kinds of rows in the crowd, and the one record."""
        from hypothesis import strategies as st

        numbers = [
            st.one_of(st.sampled_from([low, high]), st.floats(low, high)) for low, high in zip(self.low, self.high, strict=True)
        ]
        row = st.tuples(*numbers)

        def pair(a: Any, b: Any, split: int, place: int, one: Any, other: Any) -> Pair:
            crowd = np.where(np.arange(self.n)[:, np.newaxis] < split, a, b)
            return self._pair(crowd, place, np.array(one), np.array(other))

        return st.builds(pair, row, row, st.integers(0, self.n), st.integers(0, self.n - 1), row, row)
