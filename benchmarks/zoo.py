"""More mechanisms that lower bounds are measured on, each with its pair of data, at ε = 1: black boxes with many trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpaudit as dp
from benchmarks.mechanisms import Mechanism, noisy_max1, noisy_max2, noisy_max3, noisy_max4, svt1, svt2, svt3, svt4, svt5, svt6
from dpaudit.subjects.subject import Subject, make_subject

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A mechanism, the pair that it is attacked on, and the δ of its claim."""

    name: str
    mechanism: Callable[[Any, Rng, int], Any]
    pair: tuple[np.ndarray, np.ndarray]
    delta: str = "0"

    def subject(self) -> Subject:
        def run(data: Any, rng: Any, trials: Any) -> Any:
            return self.mechanism(data, rng, trials)

        return make_subject(run, dp.Claim("1", self.delta), [self.pair], self.name)


def _at_one(mechanism: Mechanism) -> Callable[[Any, Rng, int], Any]:
    return lambda data, rng, trials: mechanism(data, rng, trials, 1.0)


def laplace(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    return data.sum() + rng.laplace(size=trials)


def gaussian(sigma: float) -> Callable[[Any, Rng, int], Any]:
    return lambda data, rng, trials: data.sum() + rng.normal(scale=sigma, size=trials)


def noisy_histogram(scale: float) -> Callable[[Any, Rng, int], Any]:
    return lambda data, rng, trials: data + rng.laplace(scale=scale, size=(trials, len(data)))


def prefix_sums(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    return np.cumsum(data + rng.laplace(size=(trials, len(data))), axis=1)


def flipped(chance: float) -> Callable[[Any, Rng, int], Any]:
    """Bits, each flipped with this probability."""
    return lambda data, rng, trials: np.abs(data - (rng.random((trials, len(data))) < chance))


def truncated_geometric(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    noise = rng.geometric(1 - np.exp(-1), size=trials) - rng.geometric(1 - np.exp(-1), size=trials)
    return np.clip(data.sum() + noise, 0, 5)


def numerical_svt(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    """Fresh noise for the number that it tells; (2/9, 4/9, 1/3) of ε for threshold, comparison and number."""
    above = data + rng.laplace(scale=9 / 2, size=(trials, len(data))) >= 1 + rng.laplace(scale=9 / 2, size=(trials, 1))
    before = np.cumsum(above, axis=1) - above
    told = data + rng.laplace(scale=3.0, size=(trials, len(data)))
    return np.where(before > 0, -2000.0, np.where(above, told, -1000.0))


def mean_with_raw_count(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    return (data.sum() + rng.laplace(size=trials)) / len(data)


def subsampled_gaussian(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    return data.sum() * (rng.random(trials) < 0.3) + rng.normal(scale=0.7, size=trials)


def gradient_steps(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    """Ten steps, all shown, each with the same shift of its gradient."""
    return data.sum() + rng.normal(scale=4.0, size=(trials, 10))


def interrupted_svt(data: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    """Tells the noisy answer that it compared, NaN once it has stopped (iSVT4 of Ding et al. 2018)."""
    noisy = data + rng.laplace(scale=2.0, size=(trials, len(data)))
    above = noisy >= 1 + rng.laplace(scale=2.0, size=(trials, 1))
    before = np.cumsum(above, axis=1) - above
    return np.where(before > 0, np.nan, np.where(above, noisy, 0.0))


ONE, ZERO = np.ones(1), np.zeros(1)
FIRST = (np.arange(10) == 0) * 1.0
SPLIT = (np.arange(10) < 5) * 1.0
FIVE = np.ones(5), np.array([2.0, 0.0, 0.0, 0.0, 0.0])
BLOOM = np.repeat([1.0, 0.0], [4, 16]), np.repeat([0.0, 1.0, 0.0], [4, 4, 12])
ZOO = [
    Case("Laplace", laplace, (ONE, ZERO)),
    Case("Gaussian σ=1", gaussian(1.0), (ONE, ZERO), "1e-5"),
    Case("Gaussian δ=.01", gaussian(2.5), (ONE, ZERO), "0.01"),
    Case("SVT1", _at_one(svt1), (SPLIT, 1 - SPLIT)),
    Case("SVT2", _at_one(svt2), (SPLIT, 1 - SPLIT)),
    Case("SVT3", _at_one(svt3), (np.ones(10), 2 * np.ones(10))),
    Case("SVT4", _at_one(svt4), (SPLIT, 1 - SPLIT)),
    Case("SVT5", _at_one(svt5), (SPLIT, 1 - SPLIT)),
    Case("SVT6", _at_one(svt6), (SPLIT, 1 - SPLIT)),
    Case("NoisyMax1", _at_one(noisy_max1), FIVE),
    Case("NoisyMax2", _at_one(noisy_max2), FIVE),
    Case("NoisyMax3", _at_one(noisy_max3), (np.ones(5), np.zeros(5))),
    Case("NoisyMax4", _at_one(noisy_max4), (np.ones(5), 2 * np.ones(5))),
    Case("NoisyHist1", noisy_histogram(1.0), (np.array([2.0, 1, 0, 3, 1]), np.array([1.0, 1, 0, 3, 1]))),
    Case("NoisyHist2", noisy_histogram(0.5), (np.array([2.0, 1, 0, 3, 1]), np.array([1.0, 1, 0, 3, 1]))),
    Case("PrefixSum", prefix_sums, (np.zeros(10), FIRST)),
    Case("randomised response", flipped(1 / (1 + np.e)), (ONE, ZERO)),
    Case("truncated geometric", truncated_geometric, (np.full(1, 2.0), np.full(1, 3.0))),
    Case("one-time RAPPOR", flipped(0.4), BLOOM),
    Case("RAPPOR", flipped(0.3), BLOOM),
    Case("Laplace in parallel", noisy_histogram(10.0), (np.zeros(20), np.ones(20))),
    Case("numerical SVT", numerical_svt, (SPLIT, 1 - SPLIT)),
    Case("DP-SGD, 10 steps", gradient_steps, (ONE, ZERO), "1e-5"),
    Case("mean with raw count", mean_with_raw_count, (np.array([1.0, 0.0]), ONE)),
    Case("subsampled Gaussian", subsampled_gaussian, (ONE, ZERO), "1e-5"),
    Case("iSVT4", interrupted_svt, (SPLIT, 1 - SPLIT)),
]
