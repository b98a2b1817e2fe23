"""Locally private gradients (Han, Liang, Wang and Zhang 2021): greedy, each client sends its gradient by an ε-LDP ball mechanism.

A client that is told x and θ has the gradient (⟨x, θ⟩ − y)x, of length at most r = 2. The mechanism (Duchi, Jordan and Wainwright
2018) takes ±x/|x| by a coin of the right mean, and sends B times a uniform point of the sphere, on that side with probability
e^ε/(1 + e^ε). Which side is one bit through randomised response, and all that depends on the reward; where on the side is a
public coin. B makes the mean right.

Theirs takes a step after every round. Here a step uses the mean of a block, an eighth of the time before it; the points of a
block are drawn as normal numbers with their two moments. Step d·n/t, the mechanism's constants and the projection to the ball
were not confirmed from the paper. A greedy choice needs contexts of much variety.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.linear.parts.confidence_bandit import largest
from algorithms.baselines.linear.parts.weighted_bits import WeightedBits
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.privacy_steps import amplitude, from_count

RADIUS = 2.0  # r: rewards and ⟨x, θ⟩ lie in [−1, 1], |x| ≤ 1
_FIRST, _REPEAT = 64, 8


class GradientBandit:
    """The policy: θ by steps along noisy gradients. Arrays have one row per trial."""

    def __init__(self, system: HanGradient, actions: np.ndarray) -> None:
        self._system, self.actions = system, actions
        self.theta, self.time = np.zeros((actions.shape[0], actions.shape[2])), np.zeros(len(actions), np.int64)

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Greedy: the estimated means; leverage plays no part."""
        index: np.ndarray = np.einsum("bkd,bd->bk", self.actions, self.theta)
        return index, np.zeros_like(index)

    def length(self, leverage: np.ndarray) -> np.ndarray:
        return np.maximum(_FIRST, self.time // _REPEAT)

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        index, leverage = self.scores()
        return largest(index, rng), self.length(leverage[:, 0])

    def told(self, action: np.ndarray) -> np.ndarray:
        """x and θ, (trials, 2d)."""
        return np.concatenate([self.actions[np.arange(len(action)), action], self.theta], axis=1)

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        points = self.actions[np.arange(len(action)), action]
        gradient = self._system.points(points, length, statistic, rng) / length[:, None]
        self.time = self.time + length
        moved = self.theta - (points.shape[1] * length / self.time)[:, None] * gradient
        self.theta = moved / np.maximum(np.linalg.norm(moved, axis=1), 1.0)[:, None]

    def keep(self, index: np.ndarray) -> None:
        self.actions, self.theta, self.time = self.actions[index], self.theta[index], self.time[index]


@dataclass(frozen=True)
class HanGradient:
    """ε-LDP for a client's context and reward."""

    epsilon: Fraction
    dimension: int

    @property
    def mean_cosine(self) -> float:
        """E|⟨u, e⟩| of a uniform point u of the sphere: Γ(d/2)/(√π Γ((d + 1)/2))."""
        d = self.dimension
        return math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)

    @property
    def size(self) -> float:
        """B = r·(e^ε + 1)/(e^ε − 1)/E|cos|."""
        return RADIUS * amplitude(self.epsilon) / self.mean_cosine

    def policy(self, actions: np.ndarray, horizon: int) -> GradientBandit:
        return GradientBandit(self, actions)

    def points(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The sum of a block's gradients as sent, (trials, d), from how many lie on which side."""
        norms = np.linalg.norm(points, axis=1, keepdims=True)
        sides = np.where(norms > 0, points / np.maximum(norms, 1e-300), np.eye(points.shape[1])[0])
        spread = self.size * np.sqrt(length)
        along = RADIUS * np.ravel(statistic) + spread * math.sqrt(1 / self.dimension - self.mean_cosine**2) * rng.standard_normal(
            len(length)
        )
        across = rng.standard_normal(points.shape) * (spread / math.sqrt(self.dimension))[:, None]
        across -= (across * sides).sum(axis=1, keepdims=True) * sides
        return np.asarray(along[:, None] * sides + across)

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        """An unbiased Σ (⟨x, θ⟩ − y)|x|/r over the block: bits with that mean through randomised response."""
        x, theta = points[:, : self.dimension], points[:, self.dimension :]
        norms = np.linalg.norm(x, axis=1)
        means = np.clip((x * theta).sum(axis=1), -1.0, 1.0)
        bits = WeightedBits(rewards, pulls, channel.rng, -norms / RADIUS, means * norms / RADIUS)
        noise = dp.RandomizedResponse(self.epsilon)
        reports = channel.reports(f"block {block}", bits, noise, sensitivity=1, cohort=pulls.cohort(), to="server")
        return np.ravel(from_count(np.asarray(reports.sum()), bits.counts, noise))
