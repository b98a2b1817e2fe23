"""Clients' rewards as bits: a reward r becomes 1 with probability (r − low)/(high − low), exactly, by a public threshold.

Client t holds the bit [r_t ≥ low + j·g], j uniform on 1, …, (high − low)/g, g = 2^-20. The thresholds are public coins and do
not depend on the data: given them, each bit is a function of its client's reward alone, and randomised response makes it private.
Rewards at the ends are their own bits, whatever the coin.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from algorithms.elimination.pulls import Pulls
from algorithms.rewards import ConstantExceptOne, SealedRewards
from dpaudit.noise import GRID
from dpaudit.sealed import Sealed, unseal


class RoundedReports:
    """The bits of one batch, lazily. Arms have one column: a batch plays one public action, so that bits need no tag."""

    tags = None

    def __init__(self, rewards: Any, pulls: Pulls, rng: np.random.Generator) -> None:
        self.rewards, self.pulls, self._rng = rewards, pulls, rng
        self._bits: Any = None

    @property
    def n(self) -> int:
        return int(self.pulls.counts.max())

    @property
    def counts(self) -> np.ndarray:
        counts, state = self.pulls.counts, self.pulls.state
        return counts[0] if state is None else counts[state]

    def sealed(self) -> Any:
        return self._ask() if isinstance(self.rewards, SealedRewards) else None

    def _ask(self) -> Any:
        """One bit per client, (n,) or (trials, n), for a batch whose rounds and action all trials share."""
        if self._bits is None:
            start, n, state = int(self.pulls.start[0]), self.n, self.pulls.state
            values = self.rewards.each((start, start + n), np.repeat(self.pulls.arms[0], n))
            shape = (n,) if state is None else (len(state), n)
            self._bits = np.where(values >= self._thresholds(shape), 1.0, 0.0)
        return self._bits

    def _thresholds(self, shape: tuple[int, ...]) -> np.ndarray:
        """low + j·g, j uniform: exact, since bounds and rewards lie on the grid."""
        low, high = (Fraction(end) / GRID for end in (self.rewards.low, self.rewards.high))
        return self._rng.integers(int(low) + 1, int(high) + 1, shape) * float(GRID)

    def units(self, grid: Fraction) -> np.ndarray:
        bits = self._ask()
        plain: np.ndarray = (unseal(bits) if isinstance(bits, Sealed) else np.asarray(bits)).astype(np.int64)
        return plain

    def sum_units(self, grid: Fraction) -> np.ndarray:
        """How many bits are 1, (1,) or (trials, 1), by its law."""
        rewards = self.rewards.rewards if isinstance(self.rewards, SealedRewards) else self.rewards
        low, spread = rewards.low, rewards.high - rewards.low
        if rewards.exchangeable:  # the simulated environment earns low or high
            return np.asarray(np.rint((self.pulls.sums(rewards) - self.counts * low) / spread), dtype=np.int64)
        if isinstance(rewards, ConstantExceptOne):
            begin, stop = self.pulls.rounds()
            chosen = 0 if self.pulls.state is None else self.pulls.state
            inside = ((begin <= rewards.t) & (rewards.t < stop)).astype(np.int64)[chosen]
            shares = [(value - low) / spread for value in (rewards.base, rewards.value)]
            return np.asarray(self._rng.binomial(self.counts - inside, shares[0]) + self._rng.binomial(inside, shares[1]))
        return np.atleast_1d(self.units(grid).sum(axis=-1, keepdims=True))
