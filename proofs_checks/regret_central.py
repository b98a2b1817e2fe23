"""Theorem 1, regret, and the remarks after it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta

import dpaudit as dp
from algorithms.central import Central
from algorithms.elimination import Setting, run
from algorithms.rewards import Stochastic
from dpaudit.papers import Check, Decision
from proofs_checks import lemma_central
from proofs_checks.decisions import Row, decided
from proofs_checks.laplace_tails import MP, digits, short
from proofs_checks.regret_chain import Budget, constants, grows

ALPHA = 1e-6  # error rate of every interval
Width = Callable[[Any, Any], Any]  # (|C_i|, L) → noise part of γ_i in units of 2d/(εq^i)
CORRECTED = "the maximum over A_i, and as many batches as fit into T: then the order holds, with the constants listed"


def claimed(horizon: float, epsilon: float) -> float:
    return math.sqrt(horizon * math.log(horizon)) + math.log(horizon) ** 2 / epsilon


def near_parallel(maximum: str, horizon: int, trials: int) -> Row:
    """Algorithm 1 itself, ε = 1: A = {a, b, e_2}, a and b = (c, ±s), t = 1/200, θ = (1/2, −1/5), rewards ±1.

    b is the best, a has gap 2s/5. Once e_2 has left, θ̂_2 is all noise; ⟨e_2, θ̂⟩ then decides which of a and b stay.
    Where none would, the better looking one stays.
    """
    t = Fraction(1, 200)
    c, s = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    actions = np.array([[c, s], [c, -s], [0, 1]], dtype=float)
    means = actions @ np.array([0.5, -0.2])
    with dp.simulate(5, trials=trials) as channel:
        rewards = Stochastic(np.broadcast_to(means, (trials, 3)), np.random.default_rng(5))
        setting = Setting(actions, horizon, "printed", maximum=maximum)
        played = run(setting, Central(Fraction(1), "printed"), rewards, channel)
    linear = horizon * 2 * s / 5 / 2  # half of what playing a all the time costs
    lost = int((played.regret(means) > linear).sum())
    least = float(beta.ppf(ALPHA, lost, trials - lost + 1)) if lost else 0.0
    return {
        "T": horizon, "gap of a": str(2 * s / 5), "runs": trials, "regret > gap·T/2": lost, "so with probability ≥": short(least),
        "allowed 1/T": 1 / horizon, "gap·T/2 over √(T log T) + log²T/ε": short(float(linear) / claimed(horizon, 1)),
    }  # fmt: skip


def regret(quick: bool, *, maximum: str = "all", width: Width = lemma_central.printed_width) -> Decision:
    """The proof's sum with explicit constants, the probability of its good event, and elimination on near-parallel actions."""
    settings = (
        [Budget(1.0, a) for a in (0.0, 0.5)] if quick else [Budget(x, a) for x in (0.01, 1.0, 100.0) for a in (0.0, 0.25, 0.5)]
    )

    def noise(horizon: float, budget: Budget) -> Any:
        return lambda d, power, n, deep: 2 * d / (budget.at(horizon) * power) * width(4 * d, deep)

    rows = constants(lambda horizon, budget: claimed(horizon, budget.at(horizon)), noise, settings, (1, 2, 5))
    event = lemma_central.concentration(True, width=width)
    horizons = (10**8, 10**10, 10**12) if quick else (10**8, 10**9, 10**10, 10**11, 10**12, 10**13)
    found = [near_parallel(maximum, horizon, 4000 if quick else 20_000) for horizon in horizons]
    excess = [row["gap·T/2 over √(T log T) + log²T/ε"] for row in found]
    evidence: Row = {
        "near-parallel actions": found,
        "error rate": f"{ALPHA:g} for each lower bound on a probability (Clopper–Pearson), seed 5",
        "Σ n_i·min(2, 4γ_{i−1}) over √(T log T) + log²T/ε": rows,
        "good event": f"{event.verdict}: {event.evidence['summary']}",
        "range": "T = 10^4, …, 10^280 (the worst of 32 around each), d = 1, 2, 5, |C_i| = 4d, K = (3T)^d + d",
        "the same rule in one batch, exactly": "alg1.elimination",
    }  # fmt: skip
    broken = [row for row in found if row["so with probability ≥"] > row["allowed 1/T"]]
    if len(broken) == len(found) and excess == sorted(excess):
        last = found[-1]
        often = f"{last['regret > gap·T/2']} of {last['runs']} runs lose the optimum for good"
        growing = (
            f"{excess[-1]:.4g}·(√(T log T) + log²T/ε) there, {excess[0]:.3g} at T = {float(found[0]['T']):.0e}: no C will do"
        )
        return decided(
            "refuted", f"near-parallel actions, T = {float(last['T']):.0e}: {often}; regret ≥ {growing}", evidence, CORRECTED
        )
    if (bad := grows(rows)) or event.verdict != "verified":
        sum_grows = f"{bad[0]['setting']}, d = {bad[0]['d']}: the proof's constant grows as T^{bad[0]['to']}" if bad else ""
        return decided("conditional", sum_grows or f"the good event is {event.verdict}", evidence, CORRECTED)
    worst = max(rows, key=lambda row: row["C needed"])
    return decided("verified", f"C = {worst['C needed']:.4g} will do for d ≤ 5, T ≤ 1e280; it does not grow with T", evidence)


def expectation(quick: bool, *, failure: Callable[[Any], Any] = lambda horizon: 1 / horizon, premise: Any = None) -> Decision:
    """E R ≤ C·claimed + P(failure)·2T, as gaps are at most 2: is the second term O(claimed)? And does the premise hold?"""
    return implied(quick, failure, premise or regret(True), lambda horizon: claimed(horizon, 1.0))


def implied(quick: bool, failure: Callable[[Any], Any], premise: Decision, order: Callable[[float], float]) -> Decision:
    """Two readings: the step from high probability to expectation, and the bound on E[R_T] for the algorithm as printed."""
    rows: list[Row] = []
    for horizon in (10**3, 10**6, 10**12, 10**24, 10**48):
        extra = 2 * MP.mpf(horizon) * failure(MP.mpf(horizon))
        rows.append(
            {"T": f"{horizon:.0e}", "2T·P(failure)": short(extra), "over the claimed order": short(extra / order(float(horizon)))}
        )
    over = [row["over the claimed order"] for row in rows]
    evidence: Row = {
        "what failure adds to E[R_T]": rows,
        "as an implication": "E[R_T] ≤ (bound) + 2T·P(failure), since |θ|, |a| ≤ 1 make every gap at most 2; for every T",
        "its premise": f"{premise.verdict}: {premise.evidence['summary']}",
    }
    if over[-1] > 1 and over == sorted(over):
        return decided("refuted", f"T = 1e48: failure adds {over[-1]:.3g} times the claimed order", evidence)
    if premise.verdict == "verified":
        return decided("verified", f"failure adds at most {rows[-1]['2T·P(failure)']:g} to E[R_T]", evidence)
    told = f"the step holds: failure adds 2T·(1/T) = {rows[-1]['2T·P(failure)']:g}; the bound it starts from is {premise.verdict}"
    return decided("conditional", told, evidence, "holds for the corrected algorithm, where the premise does")


def optimality(
    quick: bool,
    *,
    factor: Callable[[Any], Any] = MP.log,
    least_epsilon: Callable[[Any], Any] = lambda horizon: 0 * horizon,
) -> Decision:
    """(√(T log T) + log²T/ε) ≤ factor·(√T + log T/ε)? And can √T and log T/ε be lower bounds at every ε, when R_T ≤ 2T?"""
    failing, above, count, worst = [], [], 0, MP.mpf(0)
    for k in range(1, 61):
        horizon = MP.mpf(10) ** k
        log = MP.log(horizon)
        for power in range(-80, 9, 8):
            epsilon = max(MP.mpf(10) ** power, least_epsilon(horizon))
            upper, lower = MP.sqrt(horizon * log) + log**2 / epsilon, MP.sqrt(horizon) + log / epsilon
            count += 1
            share = upper / (factor(horizon) * lower)
            worst = max(worst, share)
            if share > 1 + MP.mpf(10) ** -40:
                failing.append((k, epsilon, share))
            if lower / 2 > 2 * horizon:  # max of both terms is at least half their sum
                above.append((k, epsilon, lower))
    evidence: Row = {
        "range": f"{count} points: T = 10, …, 10^60, ε = 1e-80, …, 1e8; every T ≥ 3 by √(T log T) ≤ log T·√T",
        "largest upper/(factor·lower)": digits(worst, 12),
        "not covered": "the dimension: Theorem 1 has d√T and d²/ε, the lower bounds d√T (unit ball) and, for K arms, K log T/ε; "
        "the two lower bounds are quoted, not proven here",
        "upper bound": "Theorem 1 as printed is refuted (thm1.regret); with the maximum over A_i its order holds",
    }
    if failing:
        k, epsilon, share = max(failing, key=lambda point: point[2])
        evidence["counterexample"] = {"T": f"1e{k}", "ε": digits(epsilon, 6), "upper over factor·lower": digits(share)}
        return decided(
            "refuted", f"T = 1e{k}, ε = {float(epsilon):g}: off by {float(share):.4g} times the factor claimed", evidence
        )
    if above:
        million = 10**6, Fraction(1, 10**7)
        evidence["log T/ε is no lower bound at every ε"] = {
            "T": million[0], "ε": million[1], "log T/ε": digits(MP.log(million[0]) * 10**7),
            "2T, the most regret there is": 2 * million[0],
        }  # fmt: skip
        told = (
            "within log T of √T + log T/ε, but log T/ε exceeds 2T, the largest regret, for ε < log T/(2T) (T = 10^6, ε = 10^-7)"
        )
        return decided("conditional", told, evidence, "for ε ≥ log T/T, and of the order that the maximum over A_i gives")
    return decided("verified", f"the orders differ by at most log T at all {count} points", evidence)


THEOREM, REMARK = "Theorem 1", "remark after Theorem 1"
USED = (
    "algorithms.central",
    "algorithms.elimination",
    "algorithms.confidence",
    "proofs_checks.regret_chain",
    "proofs_checks.lemma_central",
)
CHECKS = (
    Check("thm1.regret", THEOREM, "R_T ≤ C(√(T log T) + log²T/ε) with probability at least 1 − 1/T", regret, USED),
    Check("thm1.expectation", REMARK, "the high-probability bound gives E[R_T] of the same order", expectation, USED),
    Check("thm1.optimality", REMARK, "the regret is optimal up to a factor log T", optimality),
)
