"""Tails and quantiles of the binomial law, by the incomplete beta function: scipy.stats takes half a second to import."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc


def tail_above(count: Any, runs: float, chance: float) -> np.ndarray:
    """P(Bin(runs, chance) > count), for one count or an array of them."""
    count = np.asarray(count, float)
    inner = np.clip(count, 0.0, max(runs - 1.0, 0.0))
    tail = betainc(inner + 1.0, np.maximum(runs - inner, 1.0), chance)
    return np.where(count < 0, 1.0, np.where(count >= runs, 0.0, tail))


def least_count(level: float, runs: int, chance: float) -> int:
    """The least count with P(Bin(runs, chance) > count) ≤ level."""
    low, high = -1, runs  # the tail above −1 is 1, that above `runs` is 0
    if level >= 1:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail_above(middle, runs, chance) <= level else (middle, high)
    return high
