"""Theorems 2 and 3, regret: Algorithms 2 and 3, whose clients add noise to their own reports. With what the text says of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.papers import Check, Decision
from proofs_checks import lemma_local
from proofs_checks.corrected_widths import local_width
from proofs_checks.decisions import Row, decided
from proofs_checks.laplace_tails import MP, digits, log_tail, short
from proofs_checks.laplace_tails import tail as exact_tail
from proofs_checks.regret_central import implied
from proofs_checks.regret_chain import Budget, constants, grows

Order = Callable[[Any, Any], Any]  # (T, ε) → the regret claimed, without its constant
DELTA = Fraction("1e-6")
CORRECTED = lemma_local.CORRECTED + "; then the order holds, with the constants listed"


def local_order(horizon: Any, epsilon0: Any) -> Any:
    """(1 + 1/ε0)√(T log T), d = 1."""
    return (1 + 1 / epsilon0) * MP.sqrt(horizon * MP.log(horizon))


def shuffled_order(horizon: Any, epsilon: Any) -> Any:
    """√(T log T) + √log(1/δ) log^{3/2}T/ε."""
    log = MP.log(horizon)
    return MP.sqrt(horizon * log) + MP.sqrt(-MP.log(MP.mpf("1e-6"))) * log ** MP.mpf("1.5") / epsilon


def intro_order(horizon: Any, epsilon: Any) -> Any:
    """√(T log T) + log T/ε."""
    return MP.sqrt(horizon * MP.log(horizon)) + MP.log(horizon) / epsilon


def shuffled_epsilon0(epsilon: float, n: np.ndarray, printed: bool) -> np.ndarray:
    """f⁻¹_{n,δ}(ε) for small ε, for each n: x ← 2 artanh((e^ε − 1)/(8√(e^x log(4/δ)/n) + 8e^x/n)), which contracts for x < 1.

    Corrected: kept inside f's domain, and at least ε.
    """
    log4, log2, aim = math.log(4 / float(DELTA)), math.log(2 / float(DELTA)), math.expm1(epsilon)
    x = np.zeros(len(n))
    for _ in range(16):
        x = 2 * np.arctanh(aim / (8 * np.sqrt(np.exp(x) * log4 / n) + 8 * np.exp(x) / n))
    if printed:
        return x
    return np.asarray(np.maximum(epsilon, np.minimum(x, np.log(np.maximum(n / (16 * log2), 1.0)))))


def first_batch(horizon: Any, epsilon0: Any, width: lemma_local.Width, scale: int) -> tuple[Any, int, Any]:
    """P(batch 1 throws the optimum out), n_1 and γ_1: d = 1, A = {1, −1}, C_1 = {1}, rewards without noise, θ = ½.

    θ̂ = ½ + (z_1 + … + z_n)/n; 1 leaves when θ̂ < −γ. Exact: the tail of a sum of n Laplace noises.
    """
    q, deep = (2 * horizon) ** (1 / MP.log(horizon)), MP.log(8 * horizon**2)
    n = int(MP.ceil(q))
    gamma = MP.sqrt(4 * deep / q) + scale / MP.mpf(epsilon0) * width(1, q, n, deep)
    return exact_tail(n, n * (gamma + MP.mpf(1) / 2) * epsilon0 / scale), n, gamma


def losses(order: Order, budget: Callable[[Any], tuple[Any, Any]], width: lemma_local.Width, scale: int) -> list[Row]:
    """For growing T: the probability of losing the optimum in batch 1, and the regret T − n_1 (gap 1) that it costs."""
    rows: list[Row] = []
    for decade in (6, 9, 12, 15, 20, 30, 60, 90):
        horizon = MP.mpf(10) ** decade
        epsilon, epsilon0 = budget(horizon)
        chance, n, gamma = first_batch(horizon, epsilon0, width, scale)
        over = (horizon - n) / order(horizon, epsilon)
        rows.append(
            {
                "T": f"1e{decade}", "ε0": short(epsilon0), "n_1": n, "γ_1": short(gamma), "P(optimum lost)": digits(chance),
                "P·T": short(chance * horizon), "T − n_1 over the claim": short(over), "E[R]/claim ≥": short(chance * over),
            }
        )  # fmt: skip
    return rows


def _judge(
    order: Order, budget: Callable[[Any], tuple[Any, Any]], chained: list[Row], width: lemma_local.Width, scale: int, what: str
) -> Decision:
    """Refuted when, from some T on, the optimum is lost with probability above 1/T and that costs ever more than the claim."""
    rows = losses(order, budget, width, scale)
    tail = rows[-4:]
    often, over = [row["P·T"] for row in tail], [row["T − n_1 over the claim"] for row in tail]
    floats = float(log_tail(3, 20.0)[0]), float(MP.log(exact_tail(3, 20)))
    evidence: Row = {
        "batch 1: d = 1, A = {1, −1}, C_1 = {1}, θ = ½, rewards without noise": rows,
        "why": "γ_1 has √(n_1 L), L = log(4KT²): but the tail of n_1 = 3 noises is exponential, so P ≈ e^(−c√log T) ≫ 1/T",
        "second route": f"log P(z_1 + z_2 + z_3 > 20): {floats[0]:.12g} in floats, {floats[1]:.12g} in 50 digits",
        "Σ n_i·min(2, 4γ_{i−1}) over the claim": chained,
        "range of the sum": "T = 10^4, …, 10^280 (the worst of 32 around each), |C_i| = 4d, K = (3T)^d + d, on the good event",
    }
    if min(often) > 1 and often == sorted(often) and over == sorted(over) and over[-1] > 1000:
        first = next(row for row in rows if row["P·T"] > 1)
        least = f"P(optimum lost in batch 1) = {float(first['P(optimum lost)']):.4g} > 1/T at T = {first['T']}"
        told = f"{least}, P·T = {often[-1]:.3g} at 1e90; it costs {over[-1]:.3g} times the claim: no C will do"
        return decided("refuted", told, evidence, CORRECTED)
    if bad := grows(chained):
        told = f"{bad[0]['setting']}, d = {bad[0]['d']}: the proof's sum does not give it, its constant grows as T^{bad[0]['to']}"
        return decided("conditional", told, evidence, CORRECTED)
    if max(row["P·T"] for row in rows) > 1:
        return decided("conditional", "the optimum is lost with probability above 1/T at some T", evidence, CORRECTED)
    worst = max(chained, key=lambda row: row["C needed"])
    return decided("verified", f"C = {worst['C needed']:.4g} will do for {what}, T ≤ 1e280; it does not grow with T", evidence)


def local_regret(
    quick: bool, *, width: lemma_local.Width = lemma_local.printed_width, scale: int = 1, order: Order = local_order
) -> Decision:
    """Theorem 2 for noise Lap(scale/ε0), at ε0 = 1/10 in batch 1; the sum along lines ε0 = x·T^-a, with d√d in the order."""
    settings = (
        [Budget(1.0, 0.0), Budget(1.0, 0.25)] if quick else [Budget(x, a) for x in (0.1, 1.0, 10.0) for a in (0.0, 0.25, 0.4)]
    )

    def noise(horizon: float, budget: Budget) -> Any:
        epsilon0 = budget.at(horizon)
        return lambda d, power, n, deep: scale / epsilon0 * width(d, power, n, deep)

    chained = constants(lambda horizon, budget: float(order(MP.mpf(horizon), budget.at(horizon))), noise, settings, (1, 2, 5))
    tenth = MP.mpf(1) / 10
    return _judge(order, lambda horizon: (tenth, tenth), chained, width, scale, "d ≤ 5 (C with d√d in it)")


def shuffled_regret(
    quick: bool, *, width: lemma_local.Width = lemma_local.printed_width, scale: int = 1, order: Order = shuffled_order
) -> Decision:
    """Theorem 3 at ε = x√(log(1/δ)/T), δ = 10^-6. ``scale`` 1 goes with ε0 = f⁻¹ as printed, 2 with the corrected rule."""
    root, printed = math.sqrt(-math.log(float(DELTA))), scale == 1
    settings = [Budget(x * root, 0.5) for x in ((1.0,) if quick else (0.1, 0.3, 1.0))]

    def noise(horizon: float, budget: Budget) -> Any:
        epsilon = budget.at(horizon)
        return lambda d, power, n, deep: scale / shuffled_epsilon0(epsilon, n, printed) * width(d, power, n, deep)

    def budget(horizon: Any) -> tuple[Any, Any]:
        epsilon = root / MP.sqrt(horizon)
        mid = 4 * (MP.sqrt(MP.log(4 / MP.mpf("1e-6")) / 3) + MP.mpf(1) / 3)  # f(ε0) = 4ε0(√(log(4/δ)/n) + 1/n) + O(ε0²), n_1 = 3
        return epsilon, epsilon / mid if printed else epsilon

    chained = constants(lambda horizon, line: float(order(MP.mpf(horizon), line.at(horizon))), noise, settings, (1, 2))
    return _judge(order, budget, chained, width, scale, "d ≤ 2, ε = x√(log(1/δ)/T), x ≤ 1, δ = 1e-6")


def intro(
    quick: bool, *, width: lemma_local.Width = lemma_local.printed_width, scale: int = 1, order: Order = intro_order
) -> Decision:
    """The introduction's order, which has neither Theorem 3's √(log T log(1/δ)) nor its range of ε."""
    found = shuffled_regret(quick, width=width, scale=scale, order=order)
    rows = [
        {"T": f"1e{k}", "Theorem 3 over the introduction, ε = √(log(1/δ)/T)": short(shuffled_order(t, e) / intro_order(t, e))}
        for k in (6, 12, 24, 48)
        for t in [MP.mpf(10) ** k]
        for e in [MP.sqrt(-MP.log(MP.mpf("1e-6")) / t)]
    ]
    evidence = {**found.evidence, "not Theorem 3's order": rows}
    return Decision(found.verdict, evidence, found.correction and "Theorem 3's order, for the corrected algorithm")


def local_expectation(
    quick: bool, *, failure: Callable[[Any], Any] = lambda horizon: 1 / horizon, premise: Decision | None = None
) -> Decision:
    """As for Theorem 1; and E[R_T] ≥ P(optimum lost)·(T − n_1) against the claim."""
    given = premise or local_regret(True)
    found = implied(quick, failure, given, lambda horizon: float(local_order(MP.mpf(horizon), 1)))
    rows = [row for row in given.evidence.items() if row[0].startswith("batch 1")]
    evidence: Row = {**found.evidence, **{f"the algorithm, {name}": value for name, value in rows}}
    if found.verdict == "conditional" and rows:
        last = rows[0][1][-1]
        evidence["summary"] += f"; Algorithm 2 as printed has E[R_T] ≥ {last['E[R]/claim ≥']:.3g}·claim at T = {last['T']}"
    return Decision(found.verdict, evidence, found.correction)


def remark_order(
    quick: bool,
    *,
    term: Order = lambda horizon, epsilon0: horizon * MP.log(horizon) / epsilon0,
    alpha_power: Callable[[Any], Any] = lambda alpha: MP.mpf(1) / 2 + alpha,
) -> Decision:
    """Is ``term`` the dominating term of Theorem 2's (1 + 1/ε0)√(T log T) for ε0 < 1? And the exponent ½ + α at ε0 = T^-α?"""
    rows: list[Row] = []
    for decade in range(4, 61, 8):
        horizon, tenth = MP.mpf(10) ** decade, MP.mpf(1) / 10
        share = term(horizon, tenth) / local_order(horizon, tenth)
        rows.append(
            {
                "T": f"1e{decade}",
                "term over Theorem 2's bound, ε0 = 1/10": short(share),
                "term over 2T": short(term(horizon, tenth) / (2 * horizon)),
            }
        )
    shares = [row["term over Theorem 2's bound, ε0 = 1/10"] for row in rows]
    slope, spread = _slope([float(MP.log(MP.mpf(10) ** k)) for k in range(4, 61, 8)], np.log(shares))
    exponents: list[Row] = []
    for alpha in (MP.mpf(1) / 10, MP.mpf(1) / 4, MP.mpf(1) / 2):
        small, large = MP.mpf(10) ** 100, MP.mpf(10) ** 200
        mine = [MP.log(term(t, t**-alpha)) for t in (small, large)]
        exponents.append(
            {
                "α": digits(alpha, 3),
                "exponent of the term": short((mine[1] - mine[0]) / MP.log(large / small), 4),
                "the remark's ½ + α": short(alpha_power(alpha)),
            }
        )
    million = MP.mpf(10) ** 6
    evidence: Row = {
        "against Theorem 2": rows,
        "slope of the ratio in log T": f"{slope:.4f} ± {spread:.4f}",
        "against the same remark, ε0 = T^-α": exponents,
        "T log T at T = 10^6": digits(million * MP.log(million)),
        "√(T log T) at T = 10^6": digits(MP.sqrt(million * MP.log(million))),
        "readings": "O(T log T/ε0) is true of every algorithm, since R_T ≤ 2T; as Theorem 2's dominating term it is not",
    }  # fmt: skip
    agree = all(abs(row["exponent of the term"] - row["the remark's ½ + α"]) < 0.02 for row in exponents)
    if abs(slope) > 0.01 or not agree:
        told = f"the term exceeds Theorem 2's (1 + 1/ε0)√(T log T) by T^{slope:.2f}, and the trivial 2T; a root is missing"
        return decided("refuted", told, evidence, "√(T log T)/ε0")
    return decided("verified", f"the term is {min(shares):.3g} to {max(shares):.3g} of Theorem 2's bound at ε0 = 1/10", evidence)


def _slope(x: list[float], y: np.ndarray) -> tuple[float, float]:
    """Least squares, and twice its standard error."""
    fitted, cov = np.polyfit(x, y, 1, cov=True)
    return float(fitted[0]), 2 * math.sqrt(float(cov[0][0]))


CORRECT: dict[str, Any] = {"width": local_width, "scale": 2}  # the corrected algorithm
USED = ("proofs_checks.regret_chain", "proofs_checks.lemma_local", "proofs_checks.laplace_tails", "algorithms.confidence")
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
    Check("intro.shuffled-regret", "introduction, contributions", "shuffled: R_T = O(√(T log T) + log(T)/ε)", intro, USED),
)
