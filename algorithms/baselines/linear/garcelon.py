"""Linear bandit with shuffled local reports (Garcelon, Chaudhuri, Perchet and Pirotta 2022): one policy per fixed batch.

Each client's xxᵀ and xy are sent as randomised bits, one for each of the d(d+3)/2 coordinates, which share ε0 = ε^(2/3)
T^(1/6) equally. Batches of T^(2/3) rounds and the widths were not confirmed from the paper. With one context for all, xxᵀ
does not depend on rewards: its bits are public coins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.linear.parts.fixed_batches import FixedBatches
from algorithms.baselines.linear.parts.weighted_bits import WeightedBits
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.privacy_steps import amplitude


@dataclass(frozen=True)
class Garcelon(FixedBatches):
    """Every coordinate's bits are a batch of their own."""

    @property
    def batch(self) -> int:
        return math.ceil(self.horizon ** (2 / 3))

    @cached_property
    def response(self) -> Fraction:
        """The ε of one coordinate's bit, rounded down."""
        whole = float(self.epsilon) ** (2 / 3) * self.horizon ** (1 / 6)
        return Fraction(int(2 * whole / (self.dimension * (self.dimension + 3)) * 2**30), 2**30)

    @property
    def size(self) -> float:
        return amplitude(self.response)

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Each entry as ±C with its mean: C(2·Bin(n, ½ + entry/2C) − n)."""
        entries = points[:, :, None] * points[:, None, :]
        rounds = np.broadcast_to(length[:, None, None], entries.shape)
        ones = np.triu(rng.binomial(rounds, 0.5 + entries / (2 * self.size)))
        ones = ones + np.swapaxes(np.triu(ones, 1), 1, 2)
        result: np.ndarray = self.size * (2.0 * ones - rounds)
        return result

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return statistic

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        """(trials, d): each coordinate's bits are a batch of their own."""
        noise, columns = dp.RandomizedResponse(self.response), []
        for place in range(self.dimension):
            bits = WeightedBits(rewards, pulls, channel.rng, points[:, place])
            name, share = f"block {block}, coordinate {place + 1}", self.delta / self.dimension
            reports = channel.reports(
                name, bits, noise, sensitivity=1, cohort=pulls.cohort(), to="shuffled", delta=share
            )  # fmt: skip
            columns.append(np.ravel(self.size * (2.0 * np.asarray(reports.sum()) - bits.counts)))
        return np.stack(columns, axis=1)
