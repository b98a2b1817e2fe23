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
from algorithms.baselines.linear.confidence_bandit import ConfidenceBandit, noisy_shift, noisy_width
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.privacy_steps import amplitude
from algorithms.optimistic.rounded_reports import RoundedReports
from algorithms.rewards import ConstantExceptOne, SealedRewards


class WeightedBits(RoundedReports):
    """Bits of w·r: 1 with probability (1 + w·r)/2, to 2^-20. One weight for each trial."""

    def __init__(self, rewards: Any, pulls: Pulls, rng: np.random.Generator, weights: np.ndarray) -> None:
        super().__init__(rewards, pulls, rng)
        self._weights = weights

    def _ask(self) -> Any:
        if self._bits is None:
            start, n, state = int(self.pulls.start[0]), self.n, self.pulls.state
            values = self.rewards.each((start, start + n), np.repeat(self.pulls.arms[0], n))
            shape = (n,) if state is None else (len(state), n)
            weighted = values * float(self._weights[0])  # every report is drawn for one action at a time
            self._bits = np.where(weighted >= self._thresholds(shape), 1.0, 0.0)
        return self._bits

    def sum_units(self, grid: Fraction) -> np.ndarray:
        """How many bits are 1, (1,) or (trials, 1), by its law."""
        rewards = self.rewards.rewards if isinstance(self.rewards, SealedRewards) else self.rewards
        weights = self._weights[0] if self.pulls.state is None else self._weights[:, None]
        if rewards.exchangeable:
            high = np.rint((self.pulls.sums(rewards) + self.counts) / 2).astype(np.int64)
            up, down = (self._rng.binomial(n, (1 + w) / 2) for n, w in ((high, weights), (self.counts - high, -weights)))
            return np.asarray(up + down)
        if isinstance(rewards, ConstantExceptOne):
            begin, stop = self.pulls.rounds()
            inside = ((begin <= rewards.t) & (rewards.t < stop)).astype(np.int64)
            inside = inside[0 if self.pulls.state is None else self.pulls.state]
            others, own = ((1 + weights * value) / 2 for value in (rewards.base, rewards.value))
            return np.asarray(self._rng.binomial(self.counts - inside, others) + self._rng.binomial(inside, own))
        return np.atleast_1d(self.units(grid).sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Garcelon:
    """(ε, δ) for what leaves the shuffler, for a client's context and reward."""

    epsilon: Fraction
    delta: Fraction
    horizon: int
    dimension: int

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

    def policy(self, actions: np.ndarray, horizon: int) -> ConfidenceBandit:
        return ConfidenceBandit(self, actions)

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        return np.full(len(time), self.batch)

    def _spread(self, time: np.ndarray) -> np.ndarray:
        return self.size * np.sqrt(np.maximum(time, self.batch))

    def shift(self, time: np.ndarray) -> np.ndarray:
        return 2 * noisy_shift(self._spread(time), self.dimension, self.horizon)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        return noisy_width(self._spread(time), growth, self.dimension, self.horizon)

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
