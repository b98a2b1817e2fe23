"""Theorems R1, R2 and B of the optimistic bandit: bounds on regret and batches, against simulated runs of the code itself.

A run meets its bound unless a bound on a mean fails, which has probability at most 1/T; every run is held to it here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.elimination.loop import Play
from algorithms.optimistic.intervals import Intervals
from algorithms.optimistic.loop import Setting, run
from algorithms.optimistic.privacy_steps import OptimisticCentral, OptimisticLocal
from algorithms.optimistic.schedule import Schedule
from algorithms.rewards import Stochastic
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import decided

CODE = ("algorithms.optimistic.loop", "algorithms.optimistic.intervals", "algorithms.optimistic.ball_bounds")
HORIZON, RUNS = 10**5, 100


@lru_cache(maxsize=4)
def runs(model: str) -> tuple[Schedule, np.ndarray, Play]:
    """Schedule, gaps and plays of 100 random instances."""
    step = OptimisticCentral(Fraction(1)) if model == "central" else OptimisticLocal(Fraction(1))
    rng = np.random.default_rng(11)
    actions, thetas = random_instance(rng, 6, 2, instances=RUNS)
    means = np.einsum("gkd,gd->gk", actions, thetas)
    with dp.simulate(11, trials=RUNS) as channel:
        played = run(Setting(actions, HORIZON), step, Stochastic(means, rng), channel)
    return Schedule(step.model(HORIZON), HORIZON, 6, 2), means.max(axis=1, keepdims=True) - means, played


def pulls_bound(schedule: Schedule, gaps: np.ndarray) -> np.ndarray:
    """min(T, max(M_1, 2M_k : Δ ≤ qW_k)) for each gap."""
    widths, totals = (1 + schedule.share) * Intervals(schedule).widths(), schedule.totals
    last = np.where(gaps[..., None] <= widths, 2 * totals, 0).max(axis=-1)
    bound: np.ndarray = np.minimum(schedule.horizon, np.maximum(totals[0], last))
    return bound


def gap_regret(quick: bool, share: float = 1.0) -> Decision:
    """``share`` < 1: a bound that promises too much."""
    worst = 0.0
    for model in ("central", "local"):
        schedule, gaps, played = runs(model)
        bound = share * np.where(gaps > 0, pulls_bound(schedule, gaps), HORIZON)
        worst = max(worst, float((played.pulls / bound).max()))
    words = f"no action was pulled more than {worst:.3f} of its bound in {2 * RUNS} runs"
    return decided("verified" if worst <= 1 else "refuted", words, {"ratio": worst})


def dimension_regret(quick: bool, share: float = 1.0) -> Decision:
    worst = 0.0
    for model in ("central", "local"):
        schedule, gaps, played = runs(model)
        d, ridge, q = schedule.dimension, schedule.ridge, 1 + schedule.share
        squares = schedule.lengths**2 / schedule.variances
        growth = max(squares[0] / ridge, float((squares[1:] / np.cumsum(squares)[:-1]).max()))
        radius = 2 * math.log(2 * HORIZON) + 2 * math.log(2) + d * math.log1p(HORIZON / (d * ridge))
        spread = schedule.amplitudes[0] ** 2 * HORIZON + schedule.noise_variance * (schedule.actions * schedule.stages + 1)
        inside = (radius + ridge) * spread * growth / math.log1p(growth) * d * math.log1p(HORIZON / (d * ridge))
        bound = 2 + 4 * q / math.sqrt(3) * math.sqrt(inside)
        worst = max(worst, float((played.pulls * gaps).sum(axis=1).max() / (share * bound)))
    words = f"regret was at most {worst:.4f} of the bound in {2 * RUNS} runs"
    return decided("verified" if worst <= 1 else "refuted", words, {"ratio": worst})


def batches(quick: bool, share: float = 1.0) -> Decision:
    schedule, _, played = runs("central")
    worst = float(played.batches.max() / (share * (schedule.actions * schedule.stages + 1)))
    words = f"runs had at most {int(played.batches.max())} batches, {worst:.3f} of KS + 1"
    return decided("verified" if worst <= 1 else "refuted", words, {"ratio": worst})


def shrunken_matrix(quick: bool, share: float = 0.75) -> Decision:
    """Λ + h²/(h+Λ) ≥ ¾(h+Λ) for every eigenvalue h. ``share`` above ¾ is the planted fault."""
    h = np.concatenate([[0.0], np.logspace(-4, 8, 4001)])
    least = float(((1 + h**2 / (h + 1)) / (h + 1)).min())
    words = f"the least share is {least:.7f}"
    return decided("verified" if least >= share else "refuted", words, {"share": least})


WHERE = "optimistic bandit, "
CHECKS = [
    Check("optimistic.regret-r1", WHERE + "Theorem R1", "Pulls of an action stay below 2M_k with Δ ≤ qW_k.", gap_regret, CODE),
    Check("optimistic.regret-r2", WHERE + "Theorem R2", "Regret stays below the dimension bound.", dimension_regret, CODE),
    Check("optimistic.batches", WHERE + "Theorem B", "There are at most KS + 1 batches.", batches, CODE),
    Check("optimistic.shrunken-matrix", WHERE + "Theorem R2", "ΛD ≥ ¾(H + ΛI).", shrunken_matrix, CODE),
]
