"""Theorem V and Lemma 6 of the optimistic bandit, and the inequalities that they rest on."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from algorithms.optimistic.intervals import Intervals
from algorithms.optimistic.schedule import NOISE_GROWTH, Model, Schedule
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.proof_steps import Step, broken, rows

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
    steps = [
        Step("E e^{−λr} ≤ cosh λ − μ sinh λ", "the chord of a convex function; for a report ±C exactly so"),
        Step(
            "P(u_k(Y) < μ) ≤ e^−L", "u_λ rises in Y, so that the least over λ is one event, with a λ of μ and k alone", ratio <= 1
        ),
        Step("N_k counts k noises, and the tables depend on k alone", "read off the code's tables", _tables_are_the_proof_s()),
        Step("2KS·e^−L = 1/(2T)", "L = log(4KST), two ends", _level_is_the_proof_s()),
        Step("Lo ≤ μ ≤ U", "consequences of the intervals and of the ellipsoid (optimistic.ellipsoid, optimistic.ball)"),
    ]
    evidence: Row = {
        "proof": rows(steps), "exact P(miss)/e^−L, at most": ratio,
        "range": "every T, K, d, ε and rule of choice, by the proof; exact: 20 rewards ±1, one noise",
    }  # fmt: skip
    if broken(steps):
        return decided("refuted", f"an end misses with {ratio:.3f} of e^−L", {**evidence, "counterexample": broken(steps)[0]})
    words = "Chernoff with one λ for each mean and stage, a union over 2KS ends, and Ville for the ellipsoid: 1/(2T) + 1/(2T)"
    return decided("verified", f"{words}; an end misses with at most {ratio:.3f} of e^−L, exactly", evidence)


def _tables_are_the_proof_s() -> bool:
    """N_k = −k log(1 − b²λ²), ch and sh of one amplitude, in the code's tables."""
    tables = Intervals(Schedule(Model(20, 2.0, (1.0,) * 12), 2000, 5, 2)).tables
    stage = np.arange(1, len(tables.totals) + 1)[:, None]
    stated = (-stage * np.log1p(-((2.0 * tables.rates) ** 2)), np.cosh(tables.rates), np.sinh(tables.rates))
    found = (tables.noise, tables.even, tables.odd)
    return all(np.allclose(one, other, rtol=1e-12) for one, other in zip(found, stated, strict=True))


def _level_is_the_proof_s() -> bool:
    schedule = Schedule(Model(20, 2.0, (1.0,) * 12), 2000, 5, 2)
    return math.isclose(2 * 5 * schedule.stages * math.exp(-schedule.level), 1 / (2 * 2000), rel_tol=1e-12)


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
    evidence: Row = {
        "W_k over the closed form, at most": worst,
        "proof": "u_λ(Y) + u_λ(−Y) ≤ 2[ch − 1 + (N + L)/M]/sh, as cosh ≥ 1 and 1 − e^−x ≤ x; tanh(λ/2) ≤ λ/2, sinh λ ≥ λ and "
        "−log(1 − x) ≤ 2·log 2·x on [0, ½] give (λV + 2L/λ)/M; then λ = √(2L/V), or 1/(√2b) where V < 4b²L, and k ≤ L/log 2",
        "range": f"every setting, by the proof; all stages of {len(schedules(quick))} settings",
    }
    if worst > 1 + 1e-12:
        return decided("refuted", f"a stage is {worst:.4f} of the closed form", {**evidence, "counterexample": f"{worst:.6g}"})
    words = "the same λ at both ends: (λV + 2L/λ)/M, at the λ that is in the grid"
    return decided("verified", f"{words}; widths reach {worst:.4f} of the closed form", evidence)


def noise_growth(quick: bool, reach: float = 0.49) -> Decision:
    """−log(1−x)/x increases, so that its value at the reach bounds it below. ``reach`` beyond .49 is the planted fault."""
    x = np.linspace(1e-6, reach, 2001)
    worst = float((-np.log1p(-x) / (NOISE_GROWTH * x)).max())
    evidence: Row = {
        "ratio": worst, "proof": "−log(1 − x)/x = 1 + x/2 + x²/3 + … rises, and κ is its value at .49",
        "range": "all of [0, .49], by the proof",
    }  # fmt: skip
    if worst > 1 + 1e-12:
        return decided("refuted", f"{worst:.6f} of κx at x = {reach}", {**evidence, "counterexample": f"x = {reach}"})
    return decided(
        "verified", f"−log(1 − x)/x rises term by term, and κ is its value at .49; at most {worst:.9f} of it", evidence
    )


def discrete_noise(quick: bool, coarser: float = 1.0) -> Decision:
    """The mgf of two-sided geometric noise on a grid against 1/(1 − b²λ²). ``coarser``: its scale on the grid, b times this."""
    worst = 0.0
    for b in (0.5, 2.0, 40.0):
        for grid in (2.0**-20, 0.25, 1.0):
            rate = np.linspace(0.01, 0.99, 99) / b
            scale = b * coarser
            inverse = 1 - np.sinh(rate * grid / 2) ** 2 / np.sinh(grid / (2 * scale)) ** 2
            worst = max(worst, float(((1 - (b * rate) ** 2) / np.where(inverse > 0, inverse, 1e-300)).max()))
    evidence: Row = {
        "ratio": worst, "range": "every grid, b and λ < 1/b, by the proof",
        "proof": "two geometric series: 1/(1 − sinh²(λg/2)/sinh²(g/2b)); sinh is convex, and 0 at 0: sinh(cy) ≤ c·sinh y",
    }  # fmt: skip
    if worst > 1 + 1e-6:
        return decided("refuted", f"{worst:.6f} of the continuous mgf", {**evidence, "counterexample": f"{worst:.6g}"})
    return decided("verified", f"sinh(cy) ≤ c·sinh y for c ≤ 1; at most {worst:.9f} of the continuous mgf", evidence)


WHERE = "optimistic bandit, "
CHECKS = [
    Check(
        "optimistic.validity",
        WHERE + "Theorem V",
        "with probability at least 1 − 1/T all bounds hold at all times: Lo(a) ≤ μ_a ≤ U(a)",
        validity,
        CODE,
    ),
    Check(
        "optimistic.width", WHERE + "Lemma 6", "after stage k an interval is at most C_1√(8L/M_k) + 4√2·bL/M_k wide", width, CODE
    ),
    Check("optimistic.noise-growth", WHERE + "Lemma 3", "−log(1 − x) ≤ κx on [0, .49]", noise_growth, CODE),
    Check(
        "optimistic.discrete-noise",
        WHERE + "Lemma D",
        "noise on the grid has at most the mgf of Laplace noise",
        discrete_noise,
        CODE,
    ),
]
