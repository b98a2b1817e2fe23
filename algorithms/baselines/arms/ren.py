"""LDP-UCB-B (Ren, Zhou, Liu and Shroff 2020): every client sends one randomised bit, the server plays UCB1 on them.

The index is that of UCB1 on the bits; that it is the authors' to the constant was not confirmed from the paper. Theirs is
computed anew after every round. Here an arm that was pulled N times is pulled ⌈N/4⌉ times in a row, at least 16, which at
most adds a quarter to the pulls of any arm, and 16.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.privacy_steps import amplitude, sum_of_bits

_REPEAT, _LEAST = 4, 16  # an arm's next block is this fraction of its pulls, and never shorter


class ArmUcb:
    """UCB1 on unbiased reports of size ±C: mean + 2C√(2 log t/N) for rewards in [−1, 1]. Arrays have one row per trial."""

    def __init__(self, size: float, trials: int, arms: int) -> None:
        self._size = size
        self.sums, self.counts = np.zeros((trials, arms)), np.zeros((trials, arms), np.int64)

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        played = self.counts.sum(axis=1, keepdims=True)
        counts = np.maximum(self.counts, 1)
        bonus = 2 * self._size * np.sqrt(2 * np.log(np.maximum(played, 2)) / counts)
        index = np.where(self.counts > 0, self.sums / counts + bonus, np.inf)
        action = index.argmax(axis=1)
        length = -(-self.counts[np.arange(len(action)), action] // _REPEAT)
        return action, np.maximum(length, _LEAST)

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        rows = np.arange(len(action))
        self.sums[rows, action] += np.ravel(statistic)
        self.counts[rows, action] += length

    def keep(self, index: np.ndarray) -> None:
        self.sums, self.counts = self.sums[index], self.counts[index]


@dataclass(frozen=True)
class Ren:
    """ε-LDP: the server sees every client's randomised bit."""

    epsilon: Fraction

    def policy(self, actions: np.ndarray, horizon: int) -> ArmUcb:
        return ArmUcb(amplitude(self.epsilon), *actions.shape[:2])

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        return np.ravel(sum_of_bits(channel, rewards, pulls, block, dp.RandomizedResponse(self.epsilon), "server"))
