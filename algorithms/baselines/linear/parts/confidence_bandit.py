"""LinUCB on noisy least squares: V = Σ xxᵀ and u = Σ xy as a system reports them, an action of largest index for each block."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np


class LinearSystem(Protocol):
    """The rules of one system; ``time`` (trials,) counts rounds."""

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """Rounds of the next block; ``leverage`` is |x|² in the inverse of the shifted matrix."""

    def shift(self, time: np.ndarray) -> np.ndarray:
        """What is added to V, times the identity."""

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """β; ``growth`` is log det(V + shift) − d log(shift). Zero for a greedy system."""

    def squares(self, points: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Σ xxᵀ of a block as it is reported, (trials, d, d); its noise does not depend on rewards."""

    def products(self, points: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Σ xy of a block as it is reported, (trials, d), from what the door handed back."""


class ConfidenceBandit:
    """The policy. Arrays have one row per trial."""

    def __init__(self, system: LinearSystem, actions: np.ndarray) -> None:
        trials, _, dimension = actions.shape
        self.system, self.actions = system, actions
        self.matrix, self.vector = np.zeros((trials, dimension, dimension)), np.zeros((trials, dimension))
        self.time = np.zeros(trials, np.int64)

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """The index and the leverage of every action. Noise can leave V + shift indefinite: eigenvalues below half the shift are
        raised to it."""
        shift = self.system.shift(self.time)
        values, vectors = np.linalg.eigh(self.matrix)
        values = np.maximum(values + shift[:, None], shift[:, None] / 2)
        points = self.actions @ vectors
        centre = np.einsum("bij,bi->bj", vectors, self.vector) / values
        leverage = np.einsum("bkd,bd->bk", points**2, 1 / values)
        growth = np.log(values / shift[:, None]).sum(axis=1)
        width = self.system.width(self.time, np.maximum(growth, 0.0))
        index: np.ndarray = np.einsum("bkd,bd->bk", points, centre) + width[:, None] * np.sqrt(leverage)
        return index, leverage

    def length(self, leverage: np.ndarray) -> np.ndarray:
        """Rounds of the next block, by the leverage of what is played."""
        return self.system.length(self.time, leverage)

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        index, leverage = self.scores()
        action = largest(index, rng)
        return action, self.length(leverage[np.arange(len(action)), action])

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        points = self.actions[np.arange(len(action)), action]
        self.matrix += self.system.squares(points, length, rng)
        self.vector += self.system.products(points, length, statistic, rng)
        self.time += length

    def keep(self, index: np.ndarray) -> None:
        self.actions, self.matrix, self.vector = self.actions[index], self.matrix[index], self.vector[index]
        self.time = self.time[index]


def largest(index: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The place of the largest value along the last axis; ties by a public coin."""
    coins = rng.random(index.shape)
    coins[index < index.max(axis=-1, keepdims=True)] = -1.0
    chosen: np.ndarray = coins.argmax(axis=-1)
    return chosen


def outer(points: np.ndarray, length: np.ndarray) -> np.ndarray:
    """n·xxᵀ."""
    return length[:, None, None] * points[:, :, None] * points[:, None, :]


def symmetric_noise(sigma: np.ndarray, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """(trials, d, d): N(0, σ²) on and above the diagonal, mirrored below it."""
    noise = np.triu(rng.standard_normal((len(sigma), dimension, dimension))) * sigma[:, None, None]
    result: np.ndarray = noise + np.swapaxes(np.triu(noise, 1), 1, 2)
    return result


def along(points: np.ndarray, statistic: np.ndarray, sigma: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Σ xy + N(0, σ²I) in a basis that starts with x: the door's coordinate along x, noise of the same size across it.

    ``statistic`` is Σ y + N(0, (σ/|x|)²). What is orthogonal to x does not depend on rewards: it is a public coin.
    """
    noise = rng.standard_normal(points.shape) * sigma[:, None]
    squares = np.maximum((points**2).sum(axis=1), 1e-300)
    noise -= ((noise * points).sum(axis=1) / squares)[:, None] * points
    result: np.ndarray = points * np.ravel(statistic)[:, None] + noise
    return result


def noisy_shift(spread: np.ndarray, dimension: int, horizon: int) -> np.ndarray:
    """Υ = s(4√d + 2 log 2T): with probability 1 − 1/T the symmetric noise of entries N(0, s²) has its eigenvalues within ±Υ
    (Shariff and Sheffet 2018, Prop. 11, at α = 1/T). Shifted by 2Υ, V lies between Υ and 3Υ above Σ xxᵀ."""
    result: np.ndarray = np.maximum(spread, 1e-9) * (4 * math.sqrt(dimension) + 2 * math.log(2 * horizon))
    return result


def noisy_width(spread: np.ndarray, growth: np.ndarray, dimension: int, horizon: int) -> np.ndarray:
    """β = √(2 log 2T + log det) + √(3Υ) + s(√d + √(2 log 2T))/√Υ: chance, regularisation and the noise of u (ibid., Prop. 4)."""
    level, ceiling = math.log(2 * horizon), noisy_shift(spread, dimension, horizon)
    error = np.maximum(spread, 1e-9) * (math.sqrt(dimension) + math.sqrt(2 * level)) / np.sqrt(ceiling)
    result: np.ndarray = np.sqrt(2 * level + growth) + np.sqrt(3 * ceiling) + error
    return result
