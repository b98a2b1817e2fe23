"""Successive elimination of arms in epochs: pull every arm that is left equally often, drop those that are clearly worse.

An epoch uses its own rounds only: a reward is in one release.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Epochs(Protocol):
    """The lengths and widths of one system."""

    def pulls(self, epoch: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """How often each arm is pulled in this epoch, when so many are left."""

    def gap(self, epoch: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """An arm whose estimate is farther below the best one than this is dropped."""


class ArmElimination:
    """The policy. Arrays have one row per trial."""

    def __init__(self, epochs: Epochs, trials: int, arms: int, horizon: int) -> None:
        self._epochs, self._horizon = epochs, horizon
        self.active = np.ones((trials, arms), bool)
        self.epoch = np.ones(trials, np.int64)
        self.means = np.zeros((trials, arms))
        self._todo = np.zeros((trials, arms), np.int64)
        self._begin(np.arange(trials))

    def _begin(self, rows: np.ndarray) -> None:
        length = self._epochs.pulls(self.epoch[rows], self.active[rows].sum(axis=1))
        self._todo[rows] = self.active[rows] * length[:, None]

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The next arm of the epoch; the last arm that is left is played to the end."""
        decided = self.active.sum(axis=1) == 1
        action = np.where(decided, self.active.argmax(axis=1), (self._todo > 0).argmax(axis=1))
        length = np.where(decided, 2 * self._horizon, self._todo[np.arange(len(action)), action])
        return action, length

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        rows = np.arange(len(action))
        self.means[rows, action] = np.ravel(statistic) / length
        self._todo[rows, action] = 0
        ended = np.flatnonzero(~self._todo.any(axis=1))
        if len(ended):
            self._eliminate(ended)
            self.epoch[ended] += 1
            self._begin(ended)

    def _eliminate(self, rows: np.ndarray) -> None:
        active = self.active[rows]
        means = np.where(active, self.means[rows], -np.inf)
        gap = self._epochs.gap(self.epoch[rows], active.sum(axis=1))
        self.active[rows] = active & (means >= means.max(axis=1, keepdims=True) - gap[:, None])

    def keep(self, index: np.ndarray) -> None:
        self.active, self.epoch, self.means = self.active[index], self.epoch[index], self.means[index]
        self._todo = self._todo[index]
