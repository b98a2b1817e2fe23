"""Private LinUCB by trees of noisy sums (Shariff and Sheffet 2018), with Gaussian noise, by a trusted server.

Σ [x; y][x; y]ᵀ is released as running sums of a binary tree with m = ⌈log₂ n⌉ + 1 levels over n leaves, each sum with symmetric
Gaussian noise, σ² = 16mL̃⁴ log²(4/δ)/ε², L̃² = 2 for contexts and rewards of size 1; V is shifted by 2Υ. In the case of one
context, actions are public: for a changed reward only Σ xy is private and passes the door's tree. The noise on Σ xxᵀ is added
as in the paper; it comes from public coins. Σ y² is used by nothing and left out.

Theirs has a leaf for each round. Here a leaf is a block of rounds with one action, an eighth of the time before it, so that n,
m and the noise are smaller than for a leaf per round: less regret, at the same claim. Υ = σ√(2m)(4√d + 2 log 2T) is that of a
public implementation at its α = 1; neither it nor the width β was confirmed from the paper. Their other form: ``wishart_tree``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.linear.parts.confidence_bandit import ConfidenceBandit, noisy_shift, noisy_width, outer
from algorithms.elimination.pulls import Pulls
from dpaudit.channel.streams.dyadic_sums import DyadicSums

SPREAD = 2  # what a changed reward in [−1, 1] adds to Σ xy, in L2, for |x| ≤ 1
_SIZE = 2.0  # L̃² = L² + B²: contexts and rewards of size 1
_FIRST, _REPEAT = 16, 8


class TreeBandit(ConfidenceBandit):
    """LinUCB on running sums: what is learned takes the place of what was known. All trials have the same blocks."""

    def __init__(self, system: ShariffSheffet, actions: np.ndarray) -> None:
        super().__init__(system, actions)
        self._sigma, self._squares = system.sigma, DyadicSums()

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        squares = self.system.squares(self.actions[np.arange(len(action)), action], length, rng)
        self.matrix = self._squares.add(squares, lambda node: node + self._noise(node.shape, rng))
        self.vector, self.time = statistic, self.time + length

    def _noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """(Z + Zᵀ)/√2 of Z with entries N(0, σ²)."""
        noise = rng.standard_normal(shape) * self._sigma
        result: np.ndarray = (noise + np.swapaxes(noise, 1, 2)) / math.sqrt(2)
        return result


@dataclass(frozen=True)
class ShariffSheffet:
    """(ε, δ) for a server that releases every running sum, for a client's context and reward."""

    epsilon: Fraction
    delta: Fraction
    horizon: int
    dimension: int
    contexts: int = 1  # each has a leaf of its own in every block
    tree: Any = None  # the stream of one run

    @property
    def leaves(self) -> int:
        """How many blocks fit into the horizon; with contexts, also those of a block that is cut."""
        time = count = 0
        while (time := time + max(_FIRST, time // _REPEAT)) <= self.horizon:
            count += 1
        return max(1, count) if self.contexts == 1 else (count + 1) * self.contexts

    @property
    def levels(self) -> int:
        """m = ⌈log₂ n⌉ + 1."""
        return (self.leaves - 1).bit_length() + 1

    @property
    def sigma(self) -> float:
        return 4 * math.sqrt(self.levels) * _SIZE * math.log(4 / float(self.delta)) / float(self.epsilon)

    def opened(self, channel: Any) -> ShariffSheffet:
        """With the stream of one run, charged as a whole."""
        noise, cohort = dp.Gaussian(Fraction(self.sigma)), None if channel.trials is not None else range(self.horizon)
        return replace(self, tree=channel.tree("rewards", steps=self.leaves, noise=noise, sensitivity=SPREAD, cohort=cohort))

    def policy(self, actions: np.ndarray, horizon: int) -> TreeBandit:
        return TreeBandit(self, actions)

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        return np.maximum(_FIRST, time // _REPEAT)

    def _spread(self, time: np.ndarray) -> np.ndarray:
        """σ√(2m): a running sum is made of m noisy sums at most, and diagonal entries have twice the variance."""
        return np.full(len(time), self.sigma * math.sqrt(2 * self.levels))

    def shift(self, time: np.ndarray) -> np.ndarray:
        return 2 * noisy_shift(self._spread(time), self.dimension, self.horizon)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """The determinant is compared with that of ΥI, half the shift."""
        return noisy_width(self._spread(time), growth + self.dimension * math.log(2), self.dimension, self.horizon)

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Exact: the policy's tree adds the noise."""
        return outer(points, length)

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return statistic

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        """Σ xy of all rounds so far, (trials, d)."""
        if pulls.state is not None:
            return np.asarray(self.tree.add(pulls.sums(rewards) * points))
        start, count = int(pulls.start[0]), int(pulls.counts[0, 0])
        total = rewards.each((start, start + count), np.repeat(pulls.arms[0], count)).sum()  # its trace goes with each reward
        return np.asarray(self.tree.add(total * points[0])).reshape(points.shape)
