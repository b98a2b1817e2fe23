"""Locally private LinUCB (Zheng, Cai, Huang, Li and Wang 2020): clients send xxᵀ and xy with Gaussian noise.

σ = 6√(2 log(2.5/δ))/ε; shift 2Υ and width β as in a public implementation (which leaves out the √2 of σ), not confirmed from
the paper. Theirs is computed anew after every round; here an action is played until t has grown by an eighth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algorithms.baselines.linear.parts.confidence_bandit import ConfidenceBandit, along, noisy_shift, outer, symmetric_noise
from algorithms.baselines.linear.parts.gaussian_reports import sums_of_reports
from algorithms.elimination.pulls import Pulls

_FIRST, _REPEAT = 16, 8


@dataclass(frozen=True)
class Zheng:
    """(ε, δ)-LDP for a client's context and reward."""

    epsilon: Fraction
    delta: Fraction
    horizon: int
    dimension: int

    @property
    def sigma(self) -> float:
        return 6 * math.sqrt(2 * math.log(2.5 / float(self.delta))) / float(self.epsilon)

    def policy(self, actions: np.ndarray, horizon: int) -> ConfidenceBandit:
        return ConfidenceBandit(self, actions)

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        return np.maximum(_FIRST, time // _REPEAT)

    def _ceiling(self, time: np.ndarray) -> np.ndarray:
        """Υ = σ√t(4√d + 2 log 2T)."""
        return noisy_shift(self.sigma * np.sqrt(np.maximum(time, 1)), self.dimension, self.horizon)

    def shift(self, time: np.ndarray) -> np.ndarray:
        return 2 * self._ceiling(time)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """β = 2σ√(d log T) + (√(3Υ) + σ√(dt/Υ)) d log T."""
        d, level, ceiling = self.dimension, math.log(self.horizon), self._ceiling(time)
        result: np.ndarray = 2 * self.sigma * math.sqrt(d * level) + d * level * (
            np.sqrt(3 * ceiling) + self.sigma * np.sqrt(d * np.maximum(time, 1) / ceiling)
        )
        return result

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return outer(points, length) + symmetric_noise(self.sigma * np.sqrt(length), points.shape[1], rng)

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return along(points, statistic, self.sigma * np.sqrt(length), rng)

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        return sums_of_reports(channel, rewards, pulls, block, self.sigma, points, "server")
