"""Running sums by a binary tree: which sums get noise, and how many of them hold one value.

Step t, with lowest set bit 2^k, closes the sum of the last 2^k values, and the running sum is what the set bits of t name
(Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011). The value of step i + 1 lies in the sum of 2^k values that starts at
a multiple of 2^k; that is ever closed as a left half only, so where bit k of i is 0 and the sum ends by the last step. The first
value lies in the most: one for each k with 2^k ≤ n, which is ⌊log₂ n⌋ + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


def levels(steps: int) -> int:
    """In how many noisy sums a value of a stream with so many steps lies, at most."""
    return steps.bit_length()


def sums_with(leaf: int, steps: int) -> int:
    """In how many noisy sums the value of this step, from 0 on, lies."""
    return sum(not leaf >> k & 1 and ((leaf >> k) + 1) << k <= steps for k in range(levels(steps)))


@dataclass
class DyadicSums:
    """The exact sums that may still grow, and the noisy ones that the running sum is made of, by level."""

    time: int = 0
    _exact: dict[int, np.ndarray] = field(default_factory=dict)
    _noisy: dict[int, np.ndarray] = field(default_factory=dict)

    def add(self, value: np.ndarray, draw: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The running sum after one more value; ``draw`` adds noise to the one sum that this step closes."""
        time = self.time + 1
        level = (time & -time).bit_length() - 1
        node = value + sum(self._exact[below] for below in range(level))
        noisy = draw(node)
        self.time = time
        for below in range(level):
            del self._exact[below], self._noisy[below]
        self._exact[level], self._noisy[level] = node, noisy
        return np.asarray(sum(self._noisy.values()))
