"""Clients' bits of a public line through the reward: 1 with probability (1 + w·r + c)/2, to 2^-20."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.rounded_reports import RoundedReports
from algorithms.rewards import ConstantExceptOne, SealedRewards


class WeightedBits(RoundedReports):
    """One weight w and one constant c for each trial, public, |w| + |c| ≤ 1."""

    def __init__(
        self, rewards: Any, pulls: Pulls, rng: np.random.Generator, weights: np.ndarray, constants: np.ndarray | None = None
    ) -> None:
        super().__init__(rewards, pulls, rng)
        self._weights = weights
        self._constants = np.zeros(len(weights)) if constants is None else constants

    def _ask(self) -> Any:
        if self._bits is None:
            start, n, state = int(self.pulls.start[0]), self.n, self.pulls.state
            values = self.rewards.each((start, start + n), np.repeat(self.pulls.arms[0], n))
            shape = (n,) if state is None else (len(state), n)
            # Every report is drawn for one block at a time, which all its trials share but for the constant.
            constants = self._constants[0] if state is None else self._constants[:, None]
            self._bits = np.where(values * float(self._weights[0]) >= self._thresholds(shape) - constants, 1.0, 0.0)
        return self._bits

    def sum_units(self, grid: Fraction) -> np.ndarray:
        """How many bits are 1, (1,) or (trials, 1), by its law."""
        rewards = self.rewards.rewards if isinstance(self.rewards, SealedRewards) else self.rewards
        single = self.pulls.state is None
        weights, middle = ((each[0] if single else each[:, None]) for each in (self._weights, (1 + self._constants) / 2))
        if rewards.exchangeable:
            high = np.rint((self.pulls.sums(rewards) + self.counts) / 2).astype(np.int64)
            up, down = (self._ones(n, middle + w / 2) for n, w in ((high, weights), (self.counts - high, -weights)))
            return np.asarray(up + down)
        if isinstance(rewards, ConstantExceptOne):
            begin, stop = self.pulls.rounds()
            inside = ((begin <= rewards.t) & (rewards.t < stop)).astype(np.int64)
            inside = inside[0 if single else self.pulls.state]
            others, own = (middle + weights * value / 2 for value in (rewards.base, rewards.value))
            return np.asarray(self._ones(self.counts - inside, others) + self._ones(inside, own))
        return np.atleast_1d(self.units(grid).sum(axis=-1, keepdims=True))

    def _ones(self, n: np.ndarray, chance: np.ndarray) -> np.ndarray:
        return np.asarray(self._rng.binomial(n, np.clip(chance, 0.0, 1.0)))
