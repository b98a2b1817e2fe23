"""Our corrections of the ε0 rule: f's inverse inside its domain, and the exact clone bound H. Their privacy and their regret."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import dpaudit as dp
from dpaudit.accountants.shuffle.clone import CLONE
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.algorithms.shuffled_batches import (
    CODE,
    LAST_BATCH,
    LAST_BATCH_IS,
    Rule,
    batch_sizes,
    clone_rule,
    closed_rule,
    examine,
    judge,
    mpf,
    printed_rule,
)
from proofs_checks.linear_bandits.algorithms.shuffled_regret import shuffled_regret
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, digits, short

Threshold = Callable[[int, Any, Any], int]  # m = c + 1, p = e^ε0, e = e^ε → a*
PROOF = (
    "f bounds what clones cost for e^ε0 ≤ n/(16·log(2/δ)) (Theorem 3.1 of Feldman, McMillan and Talwar 2021) and rises in ε0, "
    "so ε0 ≤ f⁻¹(ε) inside that domain costs at most ε; a report that is ε-LDP is ε-DP, shuffled or not"
)
SPREAD, DELTA = Fraction(2), Fraction("1e-6")
COVERS = (
    *CODE,
    "proofs_checks.linear_bandits.algorithms.shuffled_batches",
    "proofs_checks.linear_bandits.algorithms.shuffled_regret",
)


def closed(quick: bool, *, rule: Rule = closed_rule) -> Decision:
    """Batches of up to T = 10^9 rounds, ε0 from the rule, noise Lap(2/ε0): attacked, and bounded by exact clones."""
    epsilons = ("1", "5") if quick else ("1/100", "1/10", "1", "2", "5", "16")
    deltas = ("1e-6",) if quick else ("1e-3", "1e-6", "1e-9")
    sizes = batch_sizes(10**6)[::3] if quick else sorted({*batch_sizes(10**4), *batch_sizes(10**6), *batch_sizes(10**9)[12:]})
    cells = [examine(Fraction(e), n, Fraction(d), rule, SPREAD, SPREAD) for e in epsilons for d in deltas for n in sizes]
    apart = [cell for cell in cells if not _formula(cell) * (1 - MP.mpf("1e-9")) <= mpf(cell.epsilon0) <= _formula(cell)]
    verdict, proven = judge(cells), sum(cell.outcome == "proven" for cell in cells)
    evidence: dict[str, Any] = {
        "proof": PROOF,
        "range": "every ε, δ and n, by that theorem; certified: "
        f"ε in {', '.join(epsilons)}; δ in {', '.join(deltas)}; {len(sizes)} batch sizes from {sizes[0]} to {sizes[-1]}",
        "the formula in 50 digits": f"equal, rounded down, in {len(cells) - len(apart)} of {len(cells)} batches",
        "proven within the claim": f"{proven} of {len(cells)}",
        "n": LAST_BATCH_IS,
        "rules side by side, δ = 1e-6": [_side_by_side(e, n) for e in ("1", "5") for n in (100, 10**4, LAST_BATCH)],
    }
    worst = max(cells, key=lambda cell: cell.attacked / cell.epsilon)
    if verdict == "refuted":
        evidence["counterexample"] = worst.row()
        summary = f"ε = {worst.epsilon}, n = {worst.n}, ε0 = {float(worst.epsilon0):.6g}: true ε ≥ {float(worst.attacked):.6g}"
        return decided(verdict, summary, evidence)
    if verdict == "verified" and not apart:
        evidence["regret, K=10, d=2, T=10^6, ε=1"] = [
            shuffled_regret(kind, Fraction(1), 40 if quick else 400) for kind in ("printed", "corrected")
        ]
        evidence["privacy it buys, noise Lap(2/ε0)"] = _bought(rule)
        return decided(
            verdict,
            "inside its domain the theorem of Feldman, McMillan and Talwar holds, elsewhere ε0 = ε needs none; "
            f"exact clones certify all {len(cells)} batches; the code's ε0 is the formula's, rounded down",
            evidence,
        )
    return decided("conditional", f"{proven} of {len(cells)} batches proven; {len(apart)} ε0 apart from the formula", evidence)


def _bought(rule: Rule) -> list[Row]:
    """The printed rule beside this one: a claim that is violated now holds, and where f⁻¹ < ε there is less noise for it."""
    rows: list[Row] = []
    for epsilon, n in ((Fraction(1), 100), (Fraction(5), 100), (Fraction(5), LAST_BATCH)):
        for name, chosen in (("f⁻¹ as printed", printed_rule), (rule.__name__.replace("_", " "), rule)):
            rows.append({"rule": name, **examine(epsilon, n, DELTA, chosen, SPREAD, SPREAD).row()})
    return rows


def _formula(cell: Any) -> Any:
    """max{ε, min(f^{-1}(ε), log(n/(16 log(2/δ))))} with f^{-1} by bisection, in 50 digits: a second route to the code's rule."""
    epsilon, n, delta = mpf(cell.epsilon), MP.mpf(cell.n), mpf(cell.delta)
    limit = n / (16 * MP.log(2 / delta))
    if limit <= 1:
        return epsilon
    low, high = MP.mpf(0), MP.log(limit)
    for _ in range(110):
        middle = (low + high) / 2
        p = MP.exp(middle)
        f = MP.log1p((p - 1) / (p + 1) * (8 * MP.sqrt(p * MP.log(4 / delta) / n) + 8 * p / n))
        low, high = (middle, high) if f <= epsilon else (low, middle)
    return max(epsilon, high)


def _side_by_side(epsilon: str, n: int) -> Row:
    e = Fraction(epsilon)
    return {"ε": epsilon, "n": n, "f⁻¹ as printed": short(printed_rule(e, n, DELTA), 8),
            "closed rule": short(closed_rule(e, n, DELTA), 8), "exact clones": short(clone_rule(e, n, DELTA), 8)}  # fmt: skip


def exact_threshold(m: int, p: Any, e: Any) -> int:
    """a* = ⌊m(p e − 1)/((p − 1)(1 + e))⌋ + 1: from there on P(a) > e P'(a)."""
    ratio = m * (p * e - 1) / ((p - 1) * (1 + e))
    return math.floor(ratio) + 1


def clone_delta(n: int, p: Any, e: Any, threshold: Threshold = exact_threshold) -> Any:
    """H = E_C[(p − e) P(A ≥ a*−1) − (p e − 1) P(A ≥ a*)]/(1 + p), C ~ Bin(n−1, 1/p), A ~ Bin(C, ½). Exact for fractions."""
    zero = p * 0
    total = zero
    for c in range(n):
        weight = math.comb(n - 1, c) * (1 / p) ** c * (1 - 1 / p) ** (n - 1 - c)
        star = threshold(c + 1, p, e)
        at_least = [sum((math.comb(c, a) for a in range(max(k, 0), c + 1)), 0) for k in (star - 1, star)]
        total += weight * ((p - e) * at_least[0] - (p * e - 1) * at_least[1]) / 2**c
    return total / (1 + p)


def by_enumeration(n: int, p: Fraction, e: Fraction) -> Fraction:
    """The same δ from the definition: each other client is a clone of 1, of 2, or neither; the target says 1 with p/(1+p)."""
    first: dict[tuple[int, int], Fraction] = {}
    second: dict[tuple[int, int], Fraction] = {}
    for others in product((None, 1, 2), repeat=n - 1):
        weight = math.prod(((1 - 1 / p) if other is None else 1 / (2 * p) for other in others), start=Fraction(1))
        for said, likely, unlikely in ((1, p, Fraction(1)), (2, Fraction(1), p)):
            counts = others.count(1) + (said == 1), others.count(2) + (said == 2)
            first[counts] = first.get(counts, Fraction(0)) + weight * likely / (1 + p)
            second[counts] = second.get(counts, Fraction(0)) + weight * unlikely / (1 + p)
    return sum((max(first[counts] - e * second[counts], Fraction(0)) for counts in first), Fraction(0))


def response_delta(n: int, p: Fraction, e: Fraction) -> Fraction:
    """Binary randomised response, shuffled: the largest δ over the others' values, by the law of how many say 1."""
    worst = Fraction(0)
    for ones in range(n):
        laws = []
        for target in (True, False):
            law = [Fraction(1)]
            for holds in (target, *[True] * ones, *[False] * (n - 1 - ones)):
                says = (p if holds else 1) / (1 + p)
                padded = [Fraction(0), *law, Fraction(0)]
                law = [one * says + other * (1 - says) for one, other in pairwise(padded)]
            laws.append(law)
        for first, second in (laws, laws[::-1]):
            excess = [max(a - e * b, Fraction(0)) for a, b in zip(first, second, strict=True)]
            worst = max(worst, sum(excess, Fraction(0)))
    return worst


def _enumerable(quick: bool) -> list[tuple[int, Fraction, Fraction]]:
    """(n, e^ε0, e^ε) with ε < ε0, few enough clients for every outcome to be listed."""
    return [
        (n, Fraction(p), Fraction(e))
        for n in range(1, 5 if quick else 7)
        for p in ("3/2", "3", "20")
        for e in ("1", "5/4", "2", "3")
        if Fraction(e) < Fraction(p)
    ]


def clones(quick: bool, *, threshold: Threshold = exact_threshold) -> Decision:
    """H against its definition (all n ≤ 6, exact fractions), against dpaudit's enclosure, and as a bound on a real randomiser."""
    grid = _enumerable(quick)
    unequal = [case for case in grid if clone_delta(*case, threshold) != by_enumeration(*case)]
    above = [case for case in grid if response_delta(*case) > clone_delta(*case, threshold)]
    accounts = [_beside_accountant(n, Fraction(e0), Fraction(e), threshold) for n, e0, e in _accounted(quick)]
    ruled = (("1", 100), ("1/10", 100), ("2", 200), ("5", 60))
    rules = [_rule_row(e, n, threshold) for e, n in (ruled[:1] if quick else ruled)]
    evidence: dict[str, Any] = {
        "range": f"n ≤ {grid[-1][0]}, e^ε0 in 3/2, 3, 20, e^ε in 1, 5/4, 2, 3: fractions; n ≤ {accounts[-1]['n']}: 50 digits; "
        f"the rule at δ = 1e-6, n ≤ {LAST_BATCH}",
        "not covered": "clients who do not answer or collude (n counts honest reports); who knows the actions: fix.known-actions",
        "H and its definition": f"equal fractions in {len(grid) - len(unequal)} of {len(grid)} cases, n ≤ {grid[-1][0]}",
        "randomised response": f"δ at most H in {len(grid) - len(above)} of {len(grid)} cases",
        "H inside dpaudit's enclosure of δ": accounts, "sup{ε0 : H ≤ δ}": rules, "δ": DELTA,
        "the rule attacked and certified": [_certified(e, n) for e, n in (("1", 10**4), ("1", LAST_BATCH), ("5", LAST_BATCH))],
        "rules side by side, δ = 1e-6": [_side_by_side(e, n) for e in ("1", "5") for n in (100, 10**4, LAST_BATCH)],
    }  # fmt: skip
    if unequal or above:
        n, p, e = (unequal or above)[0]
        formula, right = clone_delta(n, p, e, threshold), by_enumeration(n, p, e)
        evidence["counterexample"] = {"n": n, "e^ε0": p, "e^ε": e, "H": formula, "by enumeration": right}
        return decided("refuted", f"n = {n}, e^ε0 = {p}, e^ε = {e}: H = {formula}, by enumeration {right}", evidence)
    good = all(row["inside"] for row in accounts) and all(row["meets δ"] and row["next does not"] for row in rules)
    good &= all(row["holds"] for row in evidence["the rule attacked and certified"])
    if not good:
        return decided("conditional", "H equals its definition, but dpaudit's figures differ", evidence)
    evidence["regret, K=10, d=2, T=10^6, ε=1"] = [
        shuffled_regret("corrected", Fraction(1), 40 if quick else 400, rule) for rule in (closed_rule, clone_rule)
    ]
    evidence["privacy it buys, noise Lap(2/ε0)"] = _bought(clone_rule)
    return decided(
        "verified", f"H equals its definition in {len(grid)} cases and lies in dpaudit's enclosure in {len(accounts)}", evidence
    )


def _accounted(quick: bool) -> list[tuple[int, str, str]]:
    every = [(2, "1", "1/2"), (10, "2", "1"), (50, "3", "1"), (100, "1", "1/10"), (200, "4", "3/2"), (300, "5", "2")]
    return every[:3] if quick else every


def _beside_accountant(n: int, local: Fraction, epsilon: Fraction, threshold: Threshold) -> Row:
    value = clone_delta(n, MP.exp(mpf(local)), MP.exp(mpf(epsilon)), threshold)
    low, high = CLONE.delta(local, n, epsilon, DELTA)
    slack = MP.mpf("1e-30")
    inside = bool(mpf(low) - slack <= value <= mpf(high) + slack)
    return {
        "n": n,
        "ε0": local,
        "ε": epsilon,
        "H": digits(value, 30),
        "enclosure is this wide": short(high - low, 2),
        "inside": inside,
    }


def _rule_row(epsilon: str, n: int, threshold: Threshold) -> Row:
    """The code's ε0 meets δ by H, and one millionth more does not (or it is ε itself)."""
    e, chosen = MP.exp(mpf(Fraction(epsilon))), clone_rule(Fraction(epsilon), n, DELTA)
    at, more = (clone_delta(n, MP.exp(mpf(chosen) * factor), e, threshold) for factor in (1, MP.mpf("1.00001")))
    return {"ε": epsilon, "n": n, "ε0": short(chosen, 9), "H(ε0)": short(at), "H(1.00001 ε0)": short(more, 9),
            "meets δ": bool(at <= mpf(DELTA)), "next does not": bool(more > mpf(DELTA))}  # fmt: skip


def _certified(epsilon: str, n: int) -> Row:
    """Privacy bought: δ at the claimed ε from above, and the worst known ε0-LDP randomiser from below."""
    chosen = clone_rule(Fraction(epsilon), n, DELTA)
    attack = dp.amplify(chosen, n, DELTA, method="clone").attack or Fraction(0)
    high = CLONE.delta(chosen, n, Fraction(epsilon), DELTA)[1]
    holds = high <= DELTA and attack <= Fraction(epsilon)
    return {
        "ε": epsilon,
        "n": n,
        "ε0": short(chosen, 9),
        "δ at ε, certified ≤": short(high, 9),
        "ε attacked ≥": short(attack),
        "holds": holds,
    }


CHECKS = (
    Check(
        "fix.eps0-closed", "corrections, ε0 rule, closed form",
        "ε0 = max{ε, min(f⁻¹(ε), log(n/(16 log(2/δ))))} is (ε,δ)-DP after shuffling", closed, COVERS,
    ),
    Check(
        "fix.eps0-clones", "corrections, ε0 rule, exact clones", "ε0 = max{ε, sup{e : H_ε(e) ≤ δ}}, with H in closed form",
        clones, COVERS,
    ),
)  # fmt: skip
