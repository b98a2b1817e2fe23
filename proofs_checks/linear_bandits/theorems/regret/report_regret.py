"""Theorems 2 and 3, regret: Algorithms 2 and 3, whose clients add noise to their own reports. With what the text says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.lemmas import local as lemma_local
from proofs_checks.linear_bandits.repairs.widths import local_width
from proofs_checks.linear_bandits.theorems.regret.central_regret import implied
from proofs_checks.linear_bandits.theorems.regret.chain import Budget, Model, constants, proven
from proofs_checks.linear_bandits.theorems.regret.first_batch import Budgets, for_all, losses
from proofs_checks.linear_bandits.theorems.regret.models import (
    DELTA,
    Order,
    intro_order,
    local_model,
    local_order,
    shuffled_model,
    shuffled_order,
)
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, digits, log_tail, short
from proofs_checks.shared.laplace_tails import tail as exact_tail

INSTANCE = "d = 1, A = {1, −1}, C_1 = {1}, θ = ½, rewards without noise"
CORRECTED = lemma_local.CORRECTED + "; then the order holds, with C(d) in closed form"


def _judge(
    quick: bool,
    order: Order,
    budget: Budgets,
    model: Model,
    settings: list[Budget],
    width: lemma_local.Width,
    scale: int,
    what: str,
    rest: str,
) -> Decision:
    """Refuted when batch 1 loses the optimum more often than 1/T at every T from some T0 on, and T is no multiple of the claim.

    Verified when every step of the closed form holds, and the good event.
    """
    rows, always = losses(order, budget, width, scale), for_all(order, budget, width, scale)
    dims = (1, 2) if quick else (1, 2, 5)
    evidence: Row = {f"batch 1: {INSTANCE}": rows, "second route": _second_route()}
    late = [row for row in rows if always and float(row["T"]) >= float(always["T0"])]
    if always and late and min(row["P·T"] for row in late) > 1:
        return _refute(rows, always, evidence)
    steps, failing = proven(model, settings, dims)
    event, at = lemma_local.proven(width, quick)
    evidence |= {
        "steps of the closed form, largest left/right": steps,
        "C(d) proven": {f"d = {d}": short(model.constant(d)) for d in (1, 2, 5, 20)},
        "Σ n_i·min(2, 4γ_{i−1}) against the claim": constants(model, settings, dims),
        "good event": {"T·P(it fails) ≤": short(event), **at, "in general": "4|A_i|e^-L = 1/T² in each of N ≤ log T ≤ T batches, "
                       "for all T, |A_i| and ε0, if the noise exceeds its part with probability at most e^-L (fix.local-gamma)"},
        "range": f"{what}; maximum over A_i, |C_i| ≤ 4d, K = (3T)^d + d; by the closed form, each step on a grid to T = 10^280",
        "not covered": f"the printed number of batches (N is the most that fit); {rest}",
    }  # fmt: skip
    if failing:
        return decided("conditional", _failing_steps(steps, failing), evidence, CORRECTED)
    if event > 1 or max(row["P·T"] for row in rows) > 1:
        return decided("conditional", "the optimum is lost with probability above 1/T at some T", evidence, CORRECTED)
    return decided("verified", f"R_T ≤ C(d)·claim in closed form for {what}: C(1) = {model.constant(1):.4g}", evidence)


def _second_route() -> str:
    floats, exact = float(log_tail(3, 20.0)[0]), float(MP.log(exact_tail(3, 20)))
    return f"log P(z_1 + z_2 + z_3 > 20): {floats:.12g} in floats, {exact:.12g} in 50 digits"


def _failing_steps(steps: Mapping[str, float], failing: Sequence[str]) -> str:
    most = max(steps[name] for name in failing)
    return f"the closed form does not give it: {', '.join(failing)} (left/right up to {most:.3g})"


def _refute(rows: Sequence[Row], always: Row, evidence: Row) -> Decision:
    """Batch 1 loses the optimum too often at every T ≥ T0."""
    first, last = next(row for row in rows if row["P·T"] > 1), rows[-1]
    evidence = {
        "counterexample": {"instance": INSTANCE, **first},
        **evidence,
        "why": "γ_1 has √(n_1 L), L = log(4KT²): but the tail of n_1 = 3 noises is exponential, so P ≈ e^(−c√log T) ≫ 1/T",
        "for every T ≥ T0, in closed form": always,
        "range": f"exact at T = {rows[0]['T']}, …, {rows[-1]['T']}; every T ≥ {always['T0']} in closed form",
    }
    least = f"P(optimum lost in batch 1) = {float(first['P(optimum lost)']):.4g} > 1/T at T = {first['T']}"
    cost = f"it costs {last['T − n_1 over the claim']:.3g}·claim at {last['T']}: no C will do"
    return decided("refuted", f"{least}, above 1/T for all T ≥ {always['T0']}; {cost}", evidence, CORRECTED)


def local_regret(
    quick: bool, *, width: lemma_local.Width = lemma_local.printed_width, scale: int = 1, order: Order = local_order
) -> Decision:
    """Theorem 2 for noise Lap(scale/ε0), at ε0 = 1/10 in batch 1; the sum along lines ε0 = x·T^-a, with d√d in the order."""
    lines = [Budget(x, a) for x in (0.1, 1.0, 10.0) for a in (0.0, 0.25, 0.4)]
    tenth = MP.mpf(1) / 10
    model = local_model(width, scale, order)
    return _judge(quick, order, lambda horizon: (tenth, tenth), model, lines[3:5] if quick else lines, width, scale,
                  "every T ≥ 3, ε0 > 0 and d ≥ 1 (C with d√d in it)",
                  "C(d)/(d√d) grows as √d, by the term of order log²T alone")  # fmt: skip


def shuffled_regret(
    quick: bool, *, width: lemma_local.Width = lemma_local.printed_width, scale: int = 1, order: Order = shuffled_order
) -> Decision:
    """Theorem 3 at ε = x√(log(1/δ)/T), δ = 10^-6. ``scale`` 1 goes with ε0 = f⁻¹ as printed, 2 with the corrected rule."""
    root, printed = math.sqrt(-math.log(float(DELTA))), scale == 1
    settings = [Budget(x * root, 0.5) for x in ((1.0,) if quick else (0.1, 1.0, 8.0))]

    def budget(horizon: Any) -> tuple[Any, Any]:
        epsilon = MP.sqrt(-MP.log(MP.mpf("1e-6")) / horizon)
        return epsilon, _inverse_at_3(epsilon) if printed else epsilon

    scope = "every T ≥ 3, d ≥ 1 and ε ≤ 8√(log(1/δ)/T), the theorem's own condition; δ = 1e-6, which is in C"
    return _judge(quick, order, budget, shuffled_model(width, scale, order), settings, width, scale, scope, "larger ε, other δ")


def _inverse_at_3(epsilon: Any) -> Any:
    """f⁻¹_{3,δ}(ε), 50 digits."""
    log4 = MP.log(4 / MP.mpf("1e-6"))

    def excess(x: Any) -> Any:
        return MP.tanh(x / 2) * 8 * (MP.sqrt(MP.exp(x) * log4 / 3) + MP.exp(x) / 3) / MP.expm1(epsilon) - 1

    return MP.findroot(excess, (epsilon / 20, epsilon / 5), solver="anderson")


def intro(
    quick: bool, *, width: lemma_local.Width = lemma_local.printed_width, scale: int = 1, order: Order = intro_order
) -> Decision:
    """The introduction's order, which has neither Theorem 3's √(log T log(1/δ)) nor its range of ε."""
    decision = shuffled_regret(quick, width=width, scale=scale, order=order)
    rows = [
        {"T": f"1e{k}", "Theorem 3 over the introduction, ε = √(log(1/δ)/T)": short(shuffled_order(t, e) / intro_order(t, e))}
        for k in (6, 12, 24, 48)
        for t in [MP.mpf(10) ** k]
        for e in [MP.sqrt(-MP.log(MP.mpf("1e-6")) / t)]
    ]
    evidence = {
        **decision.evidence,
        "“w.h.p.” is read as": "with probability at least 1 − 1/T, as in the paper's theorems, whose bound the remark after "
        "Theorem 1 calls the high probability bound; of a probability that merely tends to 1 nothing is decided here",
        "not Theorem 3's order": rows,
    }
    return Decision(decision.verdict, evidence, decision.correction and "Theorem 3's order, for the corrected algorithm")


def local_expectation(
    quick: bool, *, failure: Callable[[Any], Any] = lambda horizon: 1 / horizon, premise: Decision | None = None
) -> Decision:
    """As for Theorem 1; and E[R_T] ≥ P(optimum lost)·(T − n_1) against the claim."""
    basis = premise or local_regret(True)
    decision = implied(quick, failure, basis, lambda horizon: float(local_order(MP.mpf(horizon), 1)))
    rows = [row for row in basis.evidence.items() if row[0].startswith("batch 1")]
    evidence: Row = {**decision.evidence, **{f"the algorithm, {name}": value for name, value in rows}}
    if decision.verdict == "conditional" and rows:
        last = rows[0][1][-1]
        evidence["summary"] += f"; Algorithm 2 as printed has E[R_T] ≥ {last['E[R]/claim ≥']:.3g}·claim at T = {last['T']}"
    return Decision(decision.verdict, evidence, decision.correction)


def remark_order(
    quick: bool,
    *,
    term: Order = lambda horizon, epsilon0: horizon * MP.log(horizon) / epsilon0,
    alpha_power: Callable[[Any], Any] = lambda alpha: MP.mpf(1) / 2 + alpha,
) -> Decision:
    """Is ``term`` the dominating term of Theorem 2's (1 + 1/ε0)√(T log T) for ε0 < 1? And the exponent ½ + α at ε0 = T^-α?"""
    decades = range(4, 61, 8)
    rows = [_share_of_bound(term, decade) for decade in decades]
    shares = [row["term over Theorem 2's bound, ε0 = 1/10"] for row in rows]
    slope, spread = _slope([float(MP.log(MP.mpf(10) ** decade)) for decade in decades], np.log(shares))
    exponents = [_exponent(term, MP.mpf(1) / part, alpha_power) for part in (10, 4, 2)]
    million = MP.mpf(10) ** 6
    evidence: Row = {
        "range": "T = 10^4, …, 10^60 at ε0 = 1/10; ε0 = T^-α at T = 10^100, 10^200, α = 1/10, 1/4, 1/2",
        "against Theorem 2": rows,
        "slope of the ratio in log T": f"{slope:.4f} ± {spread:.4f}",
        "against the same remark, ε0 = T^-α": exponents,
        "T log T at T = 10^6": digits(million * MP.log(million)),
        "√(T log T) at T = 10^6": digits(MP.sqrt(million * MP.log(million))),
        "readings": "O(T log T/ε0) is true of every algorithm, since R_T ≤ 2T; as Theorem 2's dominating term it is not",
    }  # fmt: skip
    agree = all(abs(row["exponent of the term"] - row["the remark's ½ + α"]) < 0.02 for row in exponents)
    if abs(slope) > 0.01 or not agree:
        evidence["counterexample"] = {"ε0": "1/10", **rows[0]}
        summary = "holds with √(T log T), as Theorem 2 has it; "
        summary += f"T log(T)/ε0 exceeds its (1 + 1/ε0)√(T log T) by T^{slope:.2f}, and the trivial 2T"
        return decided("refuted", summary, evidence, "√(T log T)/ε0")
    return decided("verified", f"the term is {min(shares):.3g} to {max(shares):.3g} of Theorem 2's bound at ε0 = 1/10", evidence)


def _share_of_bound(term: Order, decade: int) -> Row:
    horizon, tenth = MP.mpf(10) ** decade, MP.mpf(1) / 10
    return {
        "T": f"1e{decade}",
        "term over Theorem 2's bound, ε0 = 1/10": short(term(horizon, tenth) / local_order(horizon, tenth)),
        "term over 2T": short(term(horizon, tenth) / (2 * horizon)),
    }


def _exponent(term: Order, alpha: Any, alpha_power: Callable[[Any], Any]) -> Row:
    small, large = MP.mpf(10) ** 100, MP.mpf(10) ** 200
    logs = [MP.log(term(horizon, horizon**-alpha)) for horizon in (small, large)]
    return {
        "α": digits(alpha, 3),
        "exponent of the term": short((logs[1] - logs[0]) / MP.log(large / small), 4),
        "the remark's ½ + α": short(alpha_power(alpha)),
    }


def _slope(x: list[float], y: np.ndarray) -> tuple[float, float]:
    """Least squares, and twice its standard error."""
    fitted, cov = np.polyfit(x, y, 1, cov=True)
    return float(fitted[0]), 2 * math.sqrt(float(cov[0][0]))


CORRECT: dict[str, Any] = {"width": local_width, "scale": 2}  # the corrected algorithm
USED = (
    "proofs_checks.linear_bandits.theorems.regret.chain",
    "proofs_checks.linear_bandits.theorems.regret.models",
    "proofs_checks.linear_bandits.theorems.regret.first_batch",
    "proofs_checks.linear_bandits.lemmas.local",
    "proofs_checks.shared.laplace_tails",
    "algorithms.elimination.confidence",
)
LOCAL, SHUFFLED = "R_T ≤ C(1 + 1/ε0) d√(dT log T)", "R_T ≤ C(√(T log T) + √log(1/δ) log^{3/2}T/ε)"
CHECKS = (
    Check("thm2.regret", "Theorem 2", f"{LOCAL} with probability at least 1 − 1/T", local_regret, USED),
    Check(
        "thm2.expectation",
        "remark after Theorem 2",
        "the high-probability bound gives E[R_T] of the same order",
        local_expectation,
        USED,
    ),
    Check("remark-local.order", "remark after Theorem 2", "for ε0 < 1 the dominating term is T log(T)/ε0", remark_order, USED),
    Check(
        "thm3.regret",
        "Theorem 3",
        f"{SHUFFLED} with probability at least 1 − 1/T, for ε = O(√(log(1/δ)/T))",
        shuffled_regret,
        USED,
    ),
    Check("intro.shuffled-regret", "introduction, contributions", "shuffled: R_T = O(√(T log T) + log(T)/ε) w.h.p.", intro, USED),
)
