"""Private LinUCB by trees of noisy sums (Shariff and Sheffet 2018), with Wishart noise, by a trusted server.

Each sum of the tree gets W = ZᵀZ, Z of k rows N(0, L̃² I) in d + 1 columns: k = d + 1 + ⌈224 m log(8m/δ) log(2/δ)/ε²⌉ degrees of
freedom. W is positive, so that V needs no shift to be invertible. In the case of one context Σ xxᵀ is public, and so is its
noise W_xx = Z_xᵀZ_x. Given that, the noise of Σ xy, Z_xᵀz, is Gaussian with covariance L̃² W_xx. The door adds its part σ² I, with
σ² a public number below L̃² W_xx but with probability 1/T at most; the rest, L̃² W_xx − σ² I, is a public coin. A smaller W_xx is
raised to σ²/L̃².

The constants of k were not confirmed from the paper, nor the width β, which is that of the Gaussian form with the eigenvalues of
W in the place of its shift. A leaf is a block of rounds, as in the Gaussian form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from algorithms.baselines.linear.shariff_sheffet import ShariffSheffet, TreeBandit
from dpaudit.channel.streams.dyadic_sums import DyadicSums

_SIZE = 2.0  # L̃²
_SHIFT = 1e-6  # what is added to V for the sake of floats alone


class WishartBandit(TreeBandit):
    """LinUCB on running sums; the noise of a sum of the tree is a matrix and a vector, drawn together."""

    def __init__(self, system: WishartTree, actions: np.ndarray) -> None:
        super().__init__(system, actions)
        self._tree, self._noises = system, DyadicSums()

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        points = self.actions[np.arange(len(action)), action]
        squares = self._tree.squares(points, length, rng)
        leaf = np.concatenate([squares, np.zeros((*points.shape, 1))], axis=2)
        total = self._noises.add(leaf, lambda node: node + self._tree.noise(len(node), rng))
        self.matrix, self.vector = total[:, :, :-1], statistic + total[:, :, -1]
        self.time = self.time + length


@dataclass(frozen=True)
class WishartTree(ShariffSheffet):
    """(ε, δ) for a server that releases every running sum, for a client's context and reward."""

    @property
    def freedom(self) -> int:
        """k, of every sum."""
        m, epsilon, delta = self.levels, float(self.epsilon), float(self.delta)
        return self.dimension + 1 + math.ceil(224 * m * math.log(8 * m / delta) * math.log(2 / delta) / epsilon**2)

    def _ends(self, sums: int) -> tuple[float, float]:
        """Eigenvalues of so many W together lie between these, but with probability 1/T: L̃²(√(k·sums) ∓ √d ∓ √(2 log 2T))²."""
        middle, reach = math.sqrt(self.freedom * sums), math.sqrt(self.dimension) + math.sqrt(2 * math.log(2 * self.horizon))
        return _SIZE * max(1.0, middle - reach) ** 2, _SIZE * (middle + reach) ** 2

    @property
    def sigma(self) -> float:
        """The door's part of the noise of Σ xy: L̃ times the root of the least eigenvalue of one W."""
        return math.sqrt(_SIZE * self._ends(1)[0])

    def noise(self, trials: int, rng: np.random.Generator) -> np.ndarray:
        """W_xx and the public part of the noise of Σ xy, (trials, d, d + 1)."""
        values, vectors = np.linalg.eigh(wishart(self.freedom, self.dimension, trials, rng) * _SIZE)
        values = np.maximum(values, self.sigma**2 / _SIZE)
        coins = rng.standard_normal((trials, self.dimension)) * np.sqrt(np.maximum(_SIZE * values - self.sigma**2, 0.0))
        matrix = np.einsum("bij,bj,bkj->bik", vectors, values, vectors)
        return np.concatenate([matrix, np.einsum("bij,bj->bi", vectors, coins)[:, :, None]], axis=2)

    def policy(self, actions: np.ndarray, horizon: int) -> WishartBandit:
        return WishartBandit(self, actions)

    def shift(self, time: np.ndarray) -> np.ndarray:
        return np.full(len(time), _SHIFT)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """β = √(2 log 2T + log(det V/ρ^d)) + √ρ' + L̃(√d + √(2 log 2T)), ρ and ρ' the ends of the eigenvalues of the noise."""
        least, most, level = self._ends(1)[0], self._ends(self.levels)[1], math.log(2 * self.horizon)
        volume = np.maximum(growth - self.dimension * math.log(least / _SHIFT), 0.0)
        noise = math.sqrt(_SIZE) * (math.sqrt(self.dimension) + math.sqrt(2 * level))
        result: np.ndarray = np.sqrt(2 * level + volume) + math.sqrt(most) + noise
        return result


def wishart(freedom: int, dimension: int, trials: int, rng: np.random.Generator) -> np.ndarray:
    """ZᵀZ for Z of ``freedom`` rows N(0, I), by its triangular root (Bartlett 1933), (trials, d, d)."""
    root = np.tril(rng.standard_normal((trials, dimension, dimension)), -1)
    for place in range(dimension):
        root[:, place, place] = np.sqrt(rng.chisquare(freedom - place, trials))
    result: np.ndarray = root @ np.swapaxes(root, 1, 2)
    return result
