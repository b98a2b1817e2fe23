"""Mechanisms that audits are measured on: Laplace and Gaussian sums, and the sparse-vector and noisy-max variants of the
literature, correct and not, as black boxes.

Sparse vector: Lyu, Su, Li 2017, Algorithms 1–6, with the parameters of Bichsel et al. 2021 (DP-Sniper): ten queries of
sensitivity 1, one positive answer, threshold 1 (1/2 in the first). Noisy max: Ding et al. 2018 (StatDP), Algorithms 5–8, five
queries. Only SVT1, SVT2, NoisyMax1 and NoisyMax2 keep their claim; SVT3, SVT4, SVT5, SVT6, NoisyMax3 and NoisyMax4 do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.subjects.subject import Subject, make_subject

CLAIM = "0.1"
EPSILON = float(CLAIM)
NO, STOPPED = -1000.0, -2000.0  # answers of SVT3, whose positive ones are numbers

Mechanism = Callable[..., np.ndarray]  # (answers, rng, trials, epsilon = that of the claim)


def patterns(queries: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Neighbouring query answers, each of which may move by 1 (Ding et al. 2018, Table 2)."""
    ones, half = np.ones(queries), queries // 2
    first = np.arange(queries) == 0
    split = np.arange(queries) < half
    others = [
        np.where(first, 0.0, 1.0), np.where(first, 2.0, 1.0), np.where(first, 2.0, 0.0), np.where(first, 0.0, 2.0),
        np.where(split, 2.0, 0.0), 2 * ones, 0 * ones,
    ]  # fmt: skip
    return [*((ones, other) for other in others), (split * 1.0, ~split * 1.0)]


def _above(answers: np.ndarray, rng: np.random.Generator, trials: int, threshold: float, rho: float, nu: float) -> np.ndarray:
    """(trials, queries): is the noisy answer at least the noisy threshold?"""
    noisy = threshold + rng.laplace(scale=rho, size=(trials, 1))
    return np.asarray(answers + rng.laplace(scale=nu, size=(trials, len(answers))) >= noisy)


def _until_positive(above: np.ndarray, stopped: float = -1.0) -> np.ndarray:
    """Answers until the first positive one; what comes after is not asked."""
    before = np.cumsum(above, axis=1) - above
    return np.where(before > 0, stopped, above)


def svt1(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    return _until_positive(_above(answers, rng, trials, 0.5, 2 / epsilon, 4 / epsilon))


def svt2(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    """Draws the threshold's noise again after a positive answer: with one such answer, there is no again."""
    return _until_positive(_above(answers, rng, trials, 1.0, 2 / epsilon, 4 / epsilon))


def svt3(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    """Answers with the noisy number that it compared."""
    noisy = answers + rng.laplace(scale=2 / epsilon, size=(trials, len(answers)))
    above = noisy >= 1.0 + rng.laplace(scale=2 / epsilon, size=(trials, 1))
    return np.where(_until_positive(above) == -1.0, STOPPED, np.where(above, noisy, NO))


def svt4(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    """The queries' noise does not count how many positive answers there may be, nor both directions."""
    return _until_positive(_above(answers, rng, trials, 1.0, 4 / epsilon, 4 / (3 * epsilon)))


def svt5(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    """No noise on the queries."""
    return (answers >= 1.0 + rng.laplace(scale=2 / epsilon, size=(trials, 1))) * 1.0


def svt6(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    """Any number of positive answers."""
    return _above(answers, rng, trials, 1.0, 2 / epsilon, 2 / epsilon) * 1.0


def noisy_max1(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    return np.argmax(answers + rng.laplace(scale=2 / epsilon, size=(trials, len(answers))), axis=1)


def noisy_max2(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    return np.argmax(answers + rng.exponential(scale=2 / epsilon, size=(trials, len(answers))), axis=1)


def noisy_max3(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    """Tells the noisy maximum instead of where it is."""
    return np.max(answers + rng.laplace(scale=2 / epsilon, size=(trials, len(answers))), axis=1)


def noisy_max4(answers: np.ndarray, rng: np.random.Generator, trials: int, epsilon: float = EPSILON) -> np.ndarray:
    return np.max(answers + rng.exponential(scale=2 / epsilon, size=(trials, len(answers))), axis=1)


HONEST: dict[str, tuple[Mechanism, int]] = {
    "SVT1": (svt1, 10), "SVT2": (svt2, 10), "NoisyMax1": (noisy_max1, 5), "NoisyMax2": (noisy_max2, 5),
}  # fmt: skip
WRONG: dict[str, tuple[Mechanism, int]] = {
    "SVT3": (svt3, 10), "SVT4": (svt4, 10), "SVT5": (svt5, 10), "SVT6": (svt6, 10),
    "NoisyMax3": (noisy_max3, 5), "NoisyMax4": (noisy_max4, 5),
}  # fmt: skip


def literature(name: str) -> Subject:
    """One of them as a subject, with its claim and StatDP's neighbours."""
    mechanism, queries = (HONEST | WRONG)[name]

    def run(answers: Any, rng: Any, trials: Any) -> Any:
        return mechanism(answers, rng, trials)

    return make_subject(run, dp.Claim(CLAIM), patterns(queries), name)


ZERO, ONE = np.zeros(1), np.ones(1)


def shifted(noise: Any, claim: dp.Claim) -> Subject:
    """A bit in noise behind the door, many trials at a time: its score is exact."""

    def grey(data: Any, channel: Any, trials: Any) -> Any:
        return channel.release("value", data.sum(), noise, sensitivity=1)

    return make_subject(grey, claim, [(ONE, ZERO)], "grey box")


def shifted_black(family: str, scale: float, claim: dp.Claim) -> Subject:
    """The same as a black box: ``family`` is numpy's name for the noise."""

    def black(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + getattr(rng, family)(scale=scale, size=trials)

    return make_subject(black, claim, [(ONE, ZERO)], "black box")
