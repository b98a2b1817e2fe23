"""Shuffle-private LinUCB (Chowdhury and Zhou 2022), with amplified Gaussian reports: fixed batches, one policy each.

Batches of B = T^(3/5) rounds; σ = 4√(2 log(2.5B/δ) log(2/δ))/(ε√B) for each report, by the amplification of approximate local
privacy. Neither was confirmed from the paper. dpaudit knows no theorem that amplifies Gaussian reports, so that it charges
what one report costs unshuffled. The other protocol, sums of vectors with binomial noise, is ``chowdhury_zhou_binomial``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.baselines.linear.parts.confidence_bandit import along, outer, symmetric_noise
from algorithms.baselines.linear.parts.fixed_batches import FixedBatches
from algorithms.baselines.linear.parts.gaussian_reports import sums_of_reports
from algorithms.elimination.pulls import Pulls


@dataclass(frozen=True)
class ChowdhuryZhou(FixedBatches):
    """Every report is Gaussian, of a size that shuffling is to make enough."""

    @property
    def batch(self) -> int:
        return math.ceil(self.horizon**0.6)

    @property
    def size(self) -> float:
        clients, delta = self.batch, float(self.delta)
        return (
            4 * math.sqrt(2 * math.log(2.5 * clients / delta) * math.log(2 / delta)) / (float(self.epsilon) * math.sqrt(clients))
        )

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return outer(points, length) + symmetric_noise(self.size * np.sqrt(length), points.shape[1], rng)

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return along(points, statistic, self.size * np.sqrt(length), rng)

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        return sums_of_reports(channel, rewards, pulls, block, self.size, points, "shuffled")
