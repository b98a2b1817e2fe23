"""Phased elimination with G-optimal designs (Lattimore and Szepesvári 2020, ch. 22): the yardstick without privacy.

Phase ℓ: each action of a design π is played ⌈2d π(a) log(Kℓ(ℓ+1)/δ)/ε_ℓ²⌉ times, ε_ℓ = 2^−ℓ, δ = 1/T; least squares on that
phase alone; actions more than 2ε_ℓ below the best are dropped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.actions.core_set import core_set
from algorithms.elimination.pulls import Pulls


class PhasedElimination:
    """The policy. Arrays have one row per trial; designs are found trial by trial."""

    def __init__(self, actions: np.ndarray, horizon: int) -> None:
        trials, size, dimension = actions.shape
        self.actions, self.horizon = actions, horizon
        self.active, self.phase = np.ones((trials, size), bool), np.zeros(trials, np.int64)
        self.todo, self.matrix = np.zeros((trials, size), np.int64), np.zeros((trials, dimension, dimension))
        self.vector = np.zeros((trials, dimension))
        self._begin(np.arange(trials))

    def _begin(self, rows: np.ndarray) -> None:
        self.phase[rows] += 1
        self.matrix[rows], self.vector[rows] = 0.0, 0.0
        dimension, size = self.actions.shape[2], self.actions.shape[1]
        for row in rows:
            chosen, phase = np.flatnonzero(self.active[row]), int(self.phase[row])
            points = self.actions[row, chosen]
            if len(chosen) == 1 or not points.any():
                continue
            design = core_set(points)
            level = math.log(size * phase * (phase + 1) * self.horizon)
            pulls = np.ceil(2 * dimension * design.weights * level * 4.0**phase)
            self.todo[row, chosen[design.support]] = np.minimum(pulls, 2 * self.horizon).astype(np.int64)

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        decided = ~self.todo.any(axis=1)
        action = np.where(decided, self.active.argmax(axis=1), (self.todo > 0).argmax(axis=1))
        return action, np.where(decided, 2 * self.horizon, self.todo[np.arange(len(action)), action])

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        rows = np.arange(len(action))
        points = self.actions[rows, action]
        self.matrix += length[:, None, None] * points[:, :, None] * points[:, None, :]
        self.vector += points * statistic[:, None]
        self.todo[rows, action] = 0
        ended = np.flatnonzero(~self.todo.any(axis=1) & (self.active.sum(axis=1) > 1))
        if len(ended):
            self._eliminate(ended)
            self._begin(ended)

    def _eliminate(self, rows: np.ndarray) -> None:
        theta = np.einsum("bij,bj->bi", np.linalg.pinv(self.matrix[rows]), self.vector[rows])
        means = np.where(self.active[rows], np.einsum("bkd,bd->bk", self.actions[rows], theta), -np.inf)
        best = means.max(axis=1, keepdims=True)
        self.active[rows] &= means >= best - 2 * 2.0 ** -self.phase[rows, None].astype(float)

    def keep(self, index: np.ndarray) -> None:
        for name in ("actions", "active", "phase", "todo", "matrix", "vector"):
            setattr(self, name, getattr(self, name)[index])


@dataclass(frozen=True)
class Phased:
    """No noise, and no door: it claims nothing."""

    def policy(self, actions: np.ndarray, horizon: int) -> PhasedElimination:
        return PhasedElimination(actions, horizon)

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        return np.ravel(np.asarray(pulls.sums(rewards)))
