"""Neighbouring data as they come in: any numbers, NaN and the infinities included. Who sums them must clamp them first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.sealed.array import seal_raw

Pair = tuple[np.ndarray, np.ndarray]
HOSTILE = (np.nan, np.inf, -np.inf, 1e308, -1e308, 7.0, -7.0)


@dataclass(frozen=True)
class Raw:
    """n records of which nothing is known; a neighbour has one other record or, with ``removal``, lacks one."""

    n: int
    removal: bool

    @property
    def name(self) -> str:
        return "add_remove" if self.removal else "replace_one"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        """A hostile record among ones, zeros, small numbers of both signs, and others like itself."""
        crowds = [np.ones(self.n), np.zeros(self.n), rng.uniform(-1, 1, self.n)]
        made = [self._pair(crowd, self.n // 2, value, 0.5) for value in HOSTILE for crowd in crowds]
        return [*made, *(self._pair(np.full(self.n, value), 0, 0.0, value) for value in HOSTILE)]

    def _pair(self, crowd: np.ndarray, place: int, one: float, other: float) -> Pair:
        first, second = crowd.copy(), crowd.copy()
        first[place], second[place] = one, other
        return (first, np.delete(first, place)) if self.removal else (first, second)

    def others(self, rng: np.random.Generator) -> list[np.ndarray]:
        return [rng.choice(HOSTILE, self.n), 10.0 ** rng.uniform(-3, 3, self.n)]

    def seal(self, data: Any) -> Any:
        return seal_raw(data, removal=self.removal)

    @property
    def strategy(self) -> Any:
        """A Hypothesis strategy of pairs: two values in the crowd, and the one record."""
        from hypothesis import strategies as st

        def pair(a: float, b: float, split: int, place: int, one: float, other: float) -> Pair:
            return self._pair(np.where(np.arange(self.n) < split, a, b), place, one, other)

        value = st.one_of(st.floats(-2, 2), st.floats())
        return st.builds(pair, value, value, st.integers(0, self.n), st.integers(0, self.n - 1), value, value)
