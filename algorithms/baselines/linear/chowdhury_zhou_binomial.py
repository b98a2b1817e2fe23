"""Shuffle-private LinUCB (Chowdhury and Zhou 2022) with sums of vectors by binomial noise (Cheu, Joseph, Mao, Peng 2021).

Every client rounds each coordinate of xy at random to a bit and sends it among coins of its own; of shuffled bits nothing is
left but their number. The coordinates are composed, with δ/d each. The published protocol rounds to g steps, g = max(2√n, d, 4),
and adds b = 24·10^4 g² log²(4(d² + 1)/δ)/(ε² n) coins of chance 1/4 for each of n clients; here fair coins of the same variance
hide bits, which makes 45,000 log²(4(d² + 1)/δ)/ε² coins for a batch, whatever n and g are. Form, g and the chance 1/4 are
those of a public implementation of such sums; the constant was not confirmed from the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.linear.parts.confidence_bandit import outer, symmetric_noise
from algorithms.baselines.linear.parts.fixed_batches import FixedBatches
from algorithms.baselines.linear.parts.weighted_bits import WeightedBits
from algorithms.elimination.pulls import Pulls

_COINS = 45_000  # 24·10^4 · 3/16: the variance of a coin of chance 1/4 is 3/16, and a bit stands for a step of 2 instead of 1/g


@dataclass(frozen=True)
class ChowdhuryZhouBinomial(FixedBatches):
    """One noisy count for each coordinate of a batch."""

    @property
    def batch(self) -> int:
        return math.ceil(self.horizon**0.6)

    @cached_property
    def noise(self) -> dp.Binomial:
        """Of one coordinate of a batch."""
        level = math.log(4 * (self.dimension**2 + 1) / float(self.delta))
        coins = 2 * math.ceil(_COINS * level**2 / float(self.epsilon) ** 2 / 2)
        return dp.Binomial(coins, Fraction(self.delta) / self.dimension)

    @property
    def size(self) -> float:
        """Each report's share of the noise: 2·Bin has the deviation √coins."""
        return math.sqrt(self.noise.coins / self.batch)

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return outer(points, length) + symmetric_noise(self.size * np.sqrt(length), points.shape[1], rng)

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return statistic

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        """(trials, d): 2·(how many bits and coins, less half the coins) − n for each coordinate."""
        columns = []
        for place in range(self.dimension):
            bits = WeightedBits(rewards, pulls, channel.rng, points[:, place])
            name = f"block {block}, coordinate {place + 1}"
            count = channel.release(name, _count(bits, channel), self.noise, sensitivity=1, cohort=pulls.cohort())
            columns.append(np.ravel(2.0 * np.asarray(count) - np.ravel(bits.counts)))
        return np.stack(columns, axis=1)


def _count(bits: WeightedBits, channel: Any) -> Any:
    """How many bits are 1: sealed, from every bit, or by its law where only that is asked for."""
    sealed = bits.sealed()
    if sealed is not None:
        return sealed.sum()
    single = channel.trials is None
    ones = bits.units(Fraction(1)).sum(axis=-1) if channel.every_report else bits.sum_units(Fraction(1)).ravel()
    return np.ravel(ones)[0] if single else np.ravel(ones)
