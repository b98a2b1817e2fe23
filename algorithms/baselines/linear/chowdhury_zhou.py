"""Shuffle-private LinUCB (Chowdhury and Zhou 2022), with amplified Gaussian reports: fixed batches, one policy each.

Batches of B = T^(3/5) rounds; σ = 4√(2 log(2.5B/δ) log(2/δ))/(ε√B) for each report, by the amplification of approximate local
privacy. Neither was confirmed from the paper. dpaudit knows no theorem that amplifies Gaussian reports, so that it charges
what one report costs unshuffled. The other protocol, sums of vectors with binomial noise, is not implemented.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algorithms.baselines.linear.confidence_bandit import (
    ConfidenceBandit,
    along,
    noisy_shift,
    noisy_width,
    outer,
    symmetric_noise,
)  # fmt: skip
from algorithms.baselines.linear.gaussian_reports import sums_of_reports
from algorithms.elimination.pulls import Pulls


@dataclass(frozen=True)
class ChowdhuryZhou:
    """(ε, δ) for what leaves the shuffler, for a client's context and reward."""

    epsilon: Fraction
    delta: Fraction
    horizon: int
    dimension: int

    @property
    def batch(self) -> int:
        return math.ceil(self.horizon**0.6)

    @property
    def sigma(self) -> float:
        size, delta = self.batch, float(self.delta)
        return 4 * math.sqrt(2 * math.log(2.5 * size / delta) * math.log(2 / delta)) / (float(self.epsilon) * math.sqrt(size))

    def policy(self, actions: np.ndarray, horizon: int) -> ConfidenceBandit:
        return ConfidenceBandit(self, actions)

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        return np.full(len(time), self.batch)

    def _spread(self, time: np.ndarray) -> np.ndarray:
        return self.sigma * np.sqrt(np.maximum(time, self.batch))

    def shift(self, time: np.ndarray) -> np.ndarray:
        return 2 * noisy_shift(self._spread(time), self.dimension, self.horizon)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        return noisy_width(self._spread(time), growth, self.dimension, self.horizon)

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return outer(points, length) + symmetric_noise(self.sigma * np.sqrt(length), points.shape[1], rng)

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return along(points, statistic, self.sigma * np.sqrt(length), rng)

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        return sums_of_reports(channel, rewards, pulls, block, self.sigma, points, "shuffled")
