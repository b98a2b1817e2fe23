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
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.proof_steps import vanishes

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
    evidence: Row = {
        "pulls over their bound, at most": worst,
        "runs": 2 * RUNS,
        "proof": "a batch from stage k ≥ 1 needs Δ ≤ q(U − Lo) ≤ qW_k; M_kΔ ≤ q√(8LM_k) + 4√2·qbL is a quadratic in √M_k, so "
        "that M_k ≤ 8q²L/Δ² + 8√2·qbL/Δ; an action has at most max(M_1, 2M_k) pulls; the bad event adds 2T·(1/T)",
        "range": f"every T, K, ε and gap, by the proof; {2 * RUNS} runs, T = {HORIZON}, K = 6, d = 2",
    }
    if worst > 1:
        return decided("refuted", f"an action had {worst:.3f} of its bound", {**evidence, "counterexample": f"{worst:.6g}"})
    words = "a batch needs Δ ≤ qW_k, a quadratic in √M_k; no action was pulled more than"
    return decided("verified", f"{words} {worst:.3f} of its bound in {2 * RUNS} runs", evidence)


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
    evidence: Row = {
        "regret over its bound, at most": worst,
        "runs": 2 * RUNS,
        "proof": "α = 1/Λ: U − Lo ≤ (4/√3)√(β² + Λ)|a|_{A⁻¹} (optimistic.shrunken-matrix); Cauchy–Schwarz over batches with "
        "x_j = (n_j²/v_j)|a_j|² ≤ X, Σx_j ≤ X/log(1 + X)·Σlog(1 + x_j), and the determinant lemma; tr H ≤ T",
        "range": f"every T, d and ε, by the proof; {2 * RUNS} runs, T = {HORIZON}, K = 6, d = 2",
    }
    if worst > 1:
        return decided("refuted", f"regret was {worst:.4f} of the bound", {**evidence, "counterexample": f"{worst:.6g}"})
    words = "Cauchy–Schwarz and the determinant lemma over batches"
    return decided("verified", f"{words}; regret was at most {worst:.4f} of the bound in {2 * RUNS} runs", evidence)


def batches(quick: bool, share: float = 1.0) -> Decision:
    schedule, _, played = runs("central")
    worst = float(played.batches.max() / (share * (schedule.actions * schedule.stages + 1)))
    evidence: Row = {
        "batches over KS + 1, at most": worst,
        "proof": "each release advances one of K actions by one of S stages; the last batch releases nothing",
        "range": f"every run, by the proof; {RUNS} runs here",
    }
    if worst > 1:
        return decided("refuted", f"a run had {worst:.3f} of KS + 1", {**evidence, "counterexample": f"{worst:.6g}"})
    words = "each release advances one of K actions by one of S stages"
    return decided("verified", f"{words}; runs had at most {int(played.batches.max())}, {worst:.3f} of KS + 1", evidence)


def shrunken_matrix(quick: bool, share: float = 0.75) -> Decision:
    """Λ + h²/(h+Λ) ≥ ¾(h+Λ) for every eigenvalue h. ``share`` above ¾ is the planted fault."""
    h = np.concatenate([[0.0], np.logspace(-4, 8, 4001)])
    least = float(((1 + h**2 / (h + 1)) / (h + 1)).min())
    identity = vanishes(lambda h, ridge: 4 * (ridge * (h + ridge) + h**2) - 3 * (h + ridge) ** 2 - (h - ridge) ** 2, (2, 2))
    evidence: Row = {
        "least share": least, "identity, as polynomials": identity, "range": "every h ≥ 0 and Λ > 0, by the identity",
        "proof": "4(Λ(h + Λ) + h²) − 3(h + Λ)² = (h − Λ)² ≥ 0",
    }  # fmt: skip
    if least < share or not identity:
        return decided("refuted", f"the least share is {least:.7f}", {**evidence, "counterexample": "h = Λ"})
    return decided("verified", f"4(Λ(h + Λ) + h²) − 3(h + Λ)² = (h − Λ)² ≥ 0; the least share is {least:.7f}, at h = Λ", evidence)


WHERE = "optimistic bandit, "
R1 = "E R_T ≤ 2 + Σ_{Δ_a>0} Δ_a·min(T, max(M_1, 2M_k : Δ_a ≤ qW_k)) ≤ 2 + Σ (M_1Δ_a + 16q²C_1²L/Δ_a + 16√2·qbL)"
R2 = "E R_T ≤ 2 + (4q/√3)√((β² + Λ)(C_1²T + ν(KS + 1))·X/log(1 + X)·d·log(1 + T/(dΛ)))"
CHECKS = [
    Check("optimistic.regret-r1", WHERE + "Theorem R1", R1, gap_regret, CODE),
    Check("optimistic.regret-r2", WHERE + "Theorem R2", R2, dimension_regret, CODE),
    Check("optimistic.batches", WHERE + "Theorem B", "there are at most KS + 1 batches", batches, CODE),
    Check("optimistic.shrunken-matrix", WHERE + "Theorem R2", "ΛD ⪰ ¾(H + ΛI)", shrunken_matrix, CODE),
]
