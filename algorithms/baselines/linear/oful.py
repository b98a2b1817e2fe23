"""OFUL (Abbasi-Yadkori, Pál and Szepesvári 2011), rarely switching: the yardstick without privacy.

λ = 1, |θ| ≤ 1, rewards 1-sub-Gaussian, δ = 1/T. The policy changes when det V has grown by a tenth (their Section 5.1 with C =
1/10; C is free there), so that a block with one action has a closed form for its length. At K = 10, d = 2, T = 10^6 the mean
regret is about 750; with C = 1 it would be 950, with C = 1/100 730, and with δ = 1/100 in place of 1/T 570.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.baselines.linear.parts.confidence_bandit import ConfidenceBandit, outer
from algorithms.elimination.pulls import Pulls

GROWTH = 0.1  # C: a block ends when det V is 1 + C times what it was


@dataclass(frozen=True)
class Oful:
    """No noise, and no door: it claims nothing."""

    horizon: int

    def policy(self, actions: np.ndarray, horizon: int) -> ConfidenceBandit:
        return ConfidenceBandit(self, actions)

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """det(V + nxxᵀ) = det V·(1 + n|x|²) ≥ (1 + C) det V."""
        return np.ceil(np.minimum(GROWTH / np.maximum(leverage, 1e-15), 2.0 * self.horizon)).astype(np.int64)

    def shift(self, time: np.ndarray) -> np.ndarray:
        return np.ones(len(time))

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """β = √(2 log(1/δ) + log(det V/det λI)) + √λ."""
        result: np.ndarray = np.sqrt(2 * math.log(self.horizon) + growth) + 1
        return result

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return outer(points, length)

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        result: np.ndarray = points * statistic[:, None]
        return result

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        return np.ravel(np.asarray(pulls.sums(rewards)))
