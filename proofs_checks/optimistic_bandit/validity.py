"""Theorem V and Lemma 6 of the optimistic bandit, and the inequalities that they rest on."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from algorithms.optimistic.intervals import Intervals
from algorithms.optimistic.schedule import NOISE_GROWTH, Model, Schedule
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import decided

CODE = ("algorithms.optimistic.intervals", "algorithms.optimistic.ball_bounds", "algorithms.optimistic.schedule")
LEVEL = 3.0


def miss(tables_noise: float, noise: float, mean: float) -> float:
    """P(u_1(Y) < μ) for 20 rewards ±1 and one Laplace noise, with tables for another scale: exact tails."""
    law = Intervals(Schedule(Model(20, tables_noise, (1.0,) * 12), 2000, 5, 2))
    low, high = np.full(21, -200.0), np.full(21, 200.0)  # u_1 increases: its crossing of μ by bisection is the threshold of Y
    for _ in range(60):
        middle = (low + high) / 2
        below = law.upper(np.ones(21, np.int64), middle, LEVEL)[0] < mean
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    rest = high - (2 * np.arange(21) - 20)
    tail = np.where(rest < 0, np.exp(np.minimum(rest, 0) / noise) / 2, 1 - np.exp(-np.maximum(rest, 0) / noise) / 2)
    return float(binom.pmf(np.arange(21), 20, (1 + mean) / 2) @ tail)


def validity(quick: bool, noise: float = 2.0) -> Decision:
    """``noise``: of the releases; the tables are made for 2. The planted fault is more noise than the tables know of."""
    worst = max(miss(2.0, noise, mean) for mean in np.linspace(-0.95, 0.95, 9 if quick else 39))
    ratio = worst / math.exp(-LEVEL)
    words = f"an end misses with at most {ratio:.3f} of e^−L, exactly, for 20 rewards and one noise"
    return decided("verified" if ratio <= 1 else "refuted", words, {"ratio": ratio})


def schedules(quick: bool) -> list[Schedule]:
    horizons = (10**3, 10**6) if quick else (10**3, 10**4, 10**6, 10**8)
    noisy = [Schedule(Model(max(20, math.ceil(24 * b)), b, (1.0,) * 40), T, 10, 2) for T in horizons for b in (0.2, 2.0, 20.0)]
    return noisy + [
        Schedule(Model(40, 0.0, tuple(1 + c / k for k in range(1, 41))), T, 10, 2) for T in horizons for c in (0.0, 3.0)
    ]


def width(quick: bool, share: float = 1.0) -> Decision:
    """W_k against its closed form. ``share`` < 1: a closed form that promises too much."""
    worst = 0.0
    for schedule in schedules(quick):
        totals, level, b = schedule.totals, schedule.level, schedule.model.noise
        closed = schedule.amplitudes[0] * np.sqrt(8 * level / totals) + 4 * math.sqrt(2) * b * level / totals
        worst = max(worst, float((Intervals(schedule).widths() / (share * closed)).max()))
    words = f"the widths of all stages are at most {worst:.4f} of the closed form in {len(schedules(quick))} settings"
    return decided("verified" if worst <= 1 + 1e-12 else "refuted", words, {"ratio": worst})


def noise_growth(quick: bool, reach: float = 0.49) -> Decision:
    """−log(1−x)/x increases, so that its value at the reach bounds it below. ``reach`` beyond .49 is the planted fault."""
    x = np.linspace(1e-6, reach, 2001)
    worst = float((-np.log1p(-x) / (NOISE_GROWTH * x)).max())
    words = f"−log(1−x) is at most {worst:.9f} of κx on (0, {reach}]"
    return decided("verified" if worst <= 1 + 1e-12 else "refuted", words, {"ratio": worst})


def discrete_noise(quick: bool, coarser: float = 1.0) -> Decision:
    """The mgf of two-sided geometric noise on a grid against 1/(1 − b²λ²). ``coarser``: its scale on the grid, b times this."""
    worst = 0.0
    for b in (0.5, 2.0, 40.0):
        for grid in (2.0**-20, 0.25, 1.0):
            rate = np.linspace(0.01, 0.99, 99) / b
            scale = b * coarser
            inverse = 1 - np.sinh(rate * grid / 2) ** 2 / np.sinh(grid / (2 * scale)) ** 2
            worst = max(worst, float(((1 - (b * rate) ** 2) / np.where(inverse > 0, inverse, 1e-300)).max()))
    words = f"the discrete mgf is at most {worst:.9f} of the continuous one"
    return decided("verified" if worst <= 1 + 1e-6 else "refuted", words, {"ratio": worst})


WHERE = "optimistic bandit, "
CHECKS = [
    Check(
        "optimistic.validity",
        WHERE + "Theorem V",
        "Each end of an interval misses with probability at most e^−L.",
        validity,
        CODE,
    ),
    Check("optimistic.width", WHERE + "Lemma 6", "No interval of stage k is wider than the closed form says.", width, CODE),
    Check("optimistic.noise-growth", WHERE + "Lemma 3", "−log(1−x) ≤ κx on [0, .49].", noise_growth, CODE),
    Check(
        "optimistic.discrete-noise",
        WHERE + "Lemma D",
        "Noise on the grid has at most the mgf of Laplace noise.",
        discrete_noise,
        CODE,
    ),
]
