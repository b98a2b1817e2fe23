"""The lemma on sums of Laplace noises (appendix), and the bound that holds instead. Units: b = c = 1, all l_i = c."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import binom

from dpaudit.claims import show
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.joint.noise_steps import tail_steps
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, chernoff, digits, log_tail, short, simulated_tail, tail, tail_of_distinct
from proofs_checks.shared.measured_regret import CODE, regret_rows
from proofs_checks.shared.proof_steps import broken, rows

UNEQUAL = (
    [Fraction(1), Fraction(1, 2)],
    [Fraction(1), Fraction(99, 100), Fraction(1, 3)],
    [Fraction(k, 12) for k in range(1, 13)],
)
BERNSTEIN = "P(Σ l_k z_k > 2σ√(vL) + σcL) ≤ e^{-L} with v = Σ l_k², c = max|l_k|: log MGF ≤ λ²σ²v/(1 − λσc)"


def mgf_step(quick: bool, *, bound: Callable[[Any], Any] = lambda u: u**2 / 2) -> Decision:
    """Step (c): log E e^{λ l z} = −log(1 − u²) ≤ u²/2, where u = λl/b runs from 0 to 1: at u = k/64, and up to 1 − 2^-150."""
    rows, failing = [], []
    places = [*(Fraction(k, 64) for k in range(1, 64)), *(1 - Fraction(1, 2**k) for k in range(7, 151))]
    for u in places:
        here = MP.mpf(u.numerator) / u.denominator
        true, allowed = -MP.log((1 - here) * (1 + here)), bound(here)
        if true > allowed:
            failing.append(u)
        if u.denominator <= 64 and u * 64 in (1, 16, 32, 48, 63):
            rows.append({"u": str(u), "E e^{λlz}": digits(MP.exp(true)), "claimed": digits(MP.exp(allowed))})
    close = "u = 1/64, …, 63/64, and 1 − 2^-7, …, 1 − 2^-150; at u = 1, which the lemma allows, it is infinite"
    evidence: Row = {"values": rows, "range": close}
    if not failing:
        return decided("verified", f"holds at all {len(places)} values of λl/b", evidence)
    u = Fraction(1, 2) if Fraction(1, 2) in failing else failing[0]
    claimed = short(MP.exp(bound(MP.mpf(u.numerator) / u.denominator)))
    exact = 1 / (1 - u**2)
    evidence["counterexample"] = {
        "λl/b": u,
        "E e^{λlz}": exact,
        "claimed": digits(MP.exp(bound(MP.mpf(u.numerator) / u.denominator))),
    }
    summary = (
        f"λl/b = {u}: E e^{{λlz}} = 1/(1 − u²) = {show(exact)}, claimed {claimed:g}; fails at {len(failing)} of {len(places)}"
    )
    fix = "log E e^{λlz} = −log(1 − u²) ≤ u²/(1 − u); the variance of Lap(1/b) is 2/b², not 1/b²"
    return decided("refuted", summary, evidence, fix)


def _holds(n: int, edges: list[Any], bound: Callable[[int, Any], Any]) -> bool:
    """tail ≤ e^bound on the whole of [edges[0], edges[-1]]: both fall in t, so that cell by cell tail(left) ≤ bound(right)."""
    return all(MP.log(tail(n, left)) <= bound(n, right) for left, right in pairwise(edges))


def _confirmed(n: int, t: float, log_bound: float, draws: int, seed: int) -> Row:
    """Simulation: the number of sums above t, and how likely so many were if the bound held."""
    above, of = simulated_tail(n, t, draws, seed)
    chance = float(binom.sf(above - 1, of, math.exp(log_bound)))
    allowed = of * math.exp(log_bound)
    return {"n": n, "t": t, "sums above t": above, "of": of, "allowed": short(allowed), "p-value": short(chance, 3)}


def branch1(quick: bool, *, bound: Callable[[int, Any], Any] = lambda n, t: -t * t / (2 * n)) -> Decision:
    """t ≤ n: claimed exp(−t²/(2n)). Proven or refuted for every n up to 12 (quick) or 40; beyond it at t = n, up to n = 400."""
    most, cells = (12, 128) if quick else (40, 512)
    rows: list[Row] = []
    holding = []
    for n in range(1, most + 1):
        worst = max(range(1, 65), key=lambda k: MP.log(tail(n, Fraction(n * k, 64))) - bound(n, MP.mpf(n * k) / 64))
        t = MP.mpf(n * worst) / 64
        exact, claimed = tail(n, t), MP.exp(bound(n, t))
        rows.append(
            {"n": n, "t": short(t), "P(sum > t)": digits(exact), "claimed": digits(claimed), "ratio": short(exact / claimed)}
        )
        if exact <= claimed and _holds(n, [MP.mpf(n * k) / cells for k in range(cells + 1)], bound):
            holding.append(n)
    refuted = [row for row in rows if row["ratio"] > 1]
    large = [n for n in range(most + 1, 401) if log_tail(n, n)[0] > float(bound(n, MP.mpf(n)))]
    evidence: Row = {
        "proven for all t ≤ n": holding,
        "worst t for each n": rows,
        "range": f"n ≤ {most}, all t ≤ n; n ≤ 400, t = n",
    }
    evidence["beyond"] = f"at t = n it fails for {len(large)} of the {400 - most} values n = {most + 1}, …, 400"
    if not refuted and not large:
        verdict = "verified" if len(holding) == most else "conditional"
        return decided(verdict, f"proven for {len(holding)} of n = 1, …, {most}", evidence)
    n, t = (refuted[0]["n"], refuted[0]["t"]) if refuted else (large[0], float(large[0]))
    claimed = float(bound(n, MP.mpf(t)))
    evidence["counterexample"] = (
        refuted[0] if refuted else {"n": n, "t": t, "log P": short(log_tail(n, t)[0]), "claimed": claimed}
    )
    evidence["simulated"] = [_confirmed(n, t, claimed, 1_000_000, 5)]
    summary = f"n = {n}, t = {t:g}: P = {math.exp(log_tail(n, t)[0]):.6g} > {math.exp(claimed):.6g}"
    only = "" if len(holding) == most else " only"  # those are all that were tried
    return decided("refuted", f"{summary}; proven for n ≤ {max(holding, default=0)}{only}", evidence, BERNSTEIN)


def branch2(quick: bool, *, bound: Callable[[int, Any], Any] = lambda n, t: n / MP.mpf(2) - t) -> Decision:
    """t > n: claimed exp(n/2 − t). The exact tail is e^{-t} times a polynomial of degree n − 1 ≥ 1, which outgrows e^{n/2}."""
    most = 6 if quick else 20
    rows, first = [], None
    places = [*range(1, 400), *(10**k for k in range(3, 13))]
    for n in range(1, most + 1):
        t = next((t for t in places if t > n and MP.log(tail(n, t)) > bound(n, MP.mpf(t))), None)
        if t is None:
            rows.append({"n": n, "least whole t": "none", "P(sum > t)": "", "claimed": ""})
            continue
        rows.append(
            {"n": n, "least whole t": t, "P(sum > t)": digits(tail(n, t)), "claimed": digits(MP.exp(bound(n, MP.mpf(t))))}
        )
        first = first or (n, t)
    holding = [row["n"] for row in rows if row["claimed"] == ""]
    evidence: Row = {
        "holds for": holding,
        "where it fails first": rows,
        "range": f"n ≤ {most}, whole t from n + 1 to 399, and 10^3, …, 10^12",
    }
    if first is None:
        return decided("verified", f"holds for n = 1, …, {most} and all t that were tried", evidence)
    n, t = first
    evidence["counterexample"] = next(row for row in rows if row["n"] == n)
    evidence["simulated"] = [_confirmed(20, 21.0, float(bound(20, MP.mpf(21))), 1_000_000, 6)]
    summary = f"n = {n}, t = {t}: P = {float(tail(n, t)):.6g} > {float(MP.exp(bound(n, MP.mpf(t)))):.6g}"
    if (n, t) == (2, 9):
        summary += " (11/4·e^-9 against e·e^-9)"
    held = f"holds for n = {', '.join(map(str, holding))}" if holding else "holds for no n"
    return decided("refuted", f"{summary}; {held} of 1 … {most}", evidence, BERNSTEIN)


def laplace_sum(quick: bool, *, width: Callable[[Any, Any], Any] = lambda n, level: 2 * np.sqrt(n * level) + level) -> Decision:
    """P(Σ l_k z_k > 2σ√(vL) + σcL) ≤ e^{-L}. ``width``(v/c², L) is in units of σc.

    Three routes: exact tails of n equal coefficients (n = v/c²), exact tails of different ones by partial fractions, and the
    Chernoff bound inf_x (1−x²)^{-n}e^{-xτ} against a search over x.
    """
    levels = np.array([0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 80, 120])
    sizes = [*range(1, 13), 20, 40] if quick else [*range(1, 41), 60, 100, 200, 400, 1000]
    equal = [
        (float(excess), n, float(level))
        for n in sizes
        for excess, level in zip(log_tail(n, width(n, levels)) + levels, levels, strict=True)
    ]
    unequal = []
    for coefficients in UNEQUAL:
        share = float(sum(x**2 for x in coefficients))  # c = 1
        for level in levels.tolist():
            exact = tail_of_distinct(coefficients, float(width(share, level)))
            unequal.append((float(MP.log(exact)) + level, len(coefficients), level))
    slack = _chernoff_slack()
    evidence: Row = {
        "equal coefficients": [{"log(P·e^L)": short(x), "n": n, "L": level} for x, n, level in sorted(equal)[-3:]],
        "different coefficients": [{"log(P·e^L)": short(x), "n": n, "L": level} for x, n, level in sorted(unequal)[-3:]],
        "best x against a search": short(slack, 2),
        "range": f"every n, l and L, by the proof; exact tails: n = 1, …, {sizes[-1]} ({len(sizes)} values), L = 0.1, …, 120",
    }
    ratio, n, level = max(equal + unequal)
    if ratio > 0 or slack > 1e-6:
        kind = "equal" if (ratio, n, level) in equal else "different"
        return decided("refuted", f"n = {n} {kind} coefficients, L = {level:g}: P = {math.exp(ratio):.4g}·e^-L", evidence)
    evidence["regret, K=10, d=2, T=10^6, ε=1"] = regret_rows("central", ("printed", "corrected"), quick)
    evidence["regret it buys"] = (
        "the corrected γ rests on this bound, the printed one on the lemma; the difference above is its wider noise term "
        "and the doubled noise (fix.noise) together"
    )
    evidence["privacy it buys"] = "none, the same ε: γ is computed from public numbers; it keeps the tail below e^-L"
    evidence["why it is needed"] = [_beside_lemma(n, width) for n in (2, 7, 20, 60)]
    steps = tail_steps()[:2]
    evidence["proof"] = rows(steps)
    if broken(steps):
        return decided("conditional", "exact tails hold, but the proof does not", evidence, "a proof")
    argument = "log MGF ≤ λ²σ²v/(1 − λσc), and at the best λ the exponent is −L (Bernstein), for all coefficients and L"
    reached = f"exact tails reach at most {math.exp(ratio):.3g} of it ({len(equal) + len(unequal)} of them)"
    return decided("verified", f"{argument}; {reached}", evidence)


def _beside_lemma(n: int, width: Callable[[Any, Any], Any]) -> Row:
    """t for e^-L at T = 10^6, K = 10, as the lemma gives it (√(2nL), or n/2 + L beyond t = n) and as corrected: exact tails."""
    level = math.log(4 * 10 * 10**12)
    lemma = math.sqrt(2 * n * level) if 2 * level <= n else n / 2 + level
    held = float(width(n, level))
    row: Row = {"n": n, "L": short(level)}
    for name, t in (("lemma", lemma), ("corrected", held)):
        row |= {f"t, {name}": short(t), f"P·e^L, {name}": digits(tail(n, MP.mpf(t)) * MP.exp(level), 20)}
    return row


def _chernoff_slack() -> float:
    """The stated x against a search over x, and −log(1−u²) ≤ u²/(1−u), the step to the closed form: largest difference."""
    grid = np.linspace(1e-4, 1 - 1e-4, 100_000)
    slack = max(0.0, float((-np.log1p(-(grid**2)) - grid**2 / (1 - grid)).max()))
    for n, tau in ((1, 3.0), (5, 4.0), (30, 100.0)):
        searched = float((-n * np.log1p(-(grid**2)) - grid * tau).min())
        slack = max(slack, abs(searched - float(chernoff(n, tau))))
    return slack


WHERE, TAILS = "appendix, lemma on Laplace sums", ("proofs_checks.shared.laplace_tails",)
CHECKS = (
    Check("lemma-laplace.mgf-step", f"{WHERE}, step (c)", "E e^{λlz} ≤ e^{λ²l²/(2b²)} for 0 ≤ λ ≤ b/c", mgf_step, TAILS),
    Check("lemma-laplace.branch1", WHERE, "P(Σ l_i z_i ≥ t) ≤ exp(−t²b²/(2nc²)) for t ≤ nc/b", branch1, TAILS),
    Check("lemma-laplace.branch2", WHERE, "P(Σ l_i z_i ≥ t) ≤ exp(n/2 − bt/c) for t > nc/b", branch2, TAILS),
    Check(
        "fix.laplace-sum",
        "corrections, sum of Laplace noises",
        BERNSTEIN,
        laplace_sum,
        (*TAILS, *CODE, "proofs_checks.shared.measured_regret"),
    ),
)
