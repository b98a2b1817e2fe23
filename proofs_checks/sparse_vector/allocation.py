"""How a budget is split between threshold and queries, and what the book's algorithm pays: variances of what is compared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import MP, short
from proofs_checks.sparse_vector.transcripts import Variant
from proofs_checks.sparse_vector.variants import book, standard

PAPER = "Lyu, Su and Li 2017"


def variance(share: Any, weight: int) -> Any:
    """Of ρ − ν over 2Δ²: 1/ε_1² + (weight/ε_2)², ε_1 = share, ε_2 = 1 − share; weight = 2c, for monotone queries c."""
    first = MP.mpf(share)
    return 1 / first**2 + weight**2 / (1 - first) ** 2


def best_split(quick: bool, weight: Callable[[int], int], *, power: Fraction = Fraction(2, 3)) -> Decision:
    """ε_1 : ε_2 = 1 : weight^power: is the derivative 0 there? The variance is convex, so that it is the least."""
    rows: list[Row] = []
    for cutoff in (1, 5, 50) if quick else (1, 2, 5, 20, 50, 300):
        ratio = MP.mpf(weight(cutoff)) ** (MP.mpf(power.numerator) / power.denominator)
        share = 1 / (1 + ratio)
        slope = -2 / share**3 + 2 * weight(cutoff) ** 2 / (1 - share) ** 3
        near = min(variance(share * factor, weight(cutoff)) for factor in (MP.mpf("0.99"), MP.mpf("1.01")))
        rows.append({"c": cutoff, "ε_1/ε": short(share), "slope": short(abs(slope) * share**3, 2), "1 % beside": short(near)})
    evidence: Row = {
        "splits": rows,
        "range": "every c, by the derivative",
        "proof": "−2/ε_1³ + 2w²/ε_2³ = 0 at ε_2/ε_1 = w^(2/3); convex",
    }
    wrong = [row for row in rows if row["slope"] > 1e-30]
    if wrong:
        return decided(
            "refuted", f"c = {wrong[0]['c']}: the derivative is not 0", {**evidence, "counterexample": wrong[0]}, "w^(2/3)"
        )
    return decided("verified", "the derivative of 1/ε_1² + (w/ε_2)² is 0 at ε_2/ε_1 = w^(2/3), and it is convex", evidence)


def book_pays_more(quick: bool, *, make: Callable[[int], Variant] = book) -> Decision:
    """Variance of what is compared with 0: the book's threshold noise is c times as wide as Algorithm 1's at the same ε."""
    rows: list[Row] = []
    for cutoff in (1, 2, 10, 100):
        ours, theirs = standard(cutoff), make(cutoff)
        both = [2 * (v.threshold**2 + v.query**2) for v in (ours, theirs)]
        rows.append({"c": cutoff, "Algorithm 1": str(both[0]), "Algorithm 2": str(both[1]), "ratio": short(both[1] / both[0])})
    evidence: Row = {"variances at ε = 1": rows, "range": "every c ≥ 1: (c² + 4c²)/(1 + 4c²), exactly"}
    wrong = [row for row in rows if (row["ratio"] <= 1) is not (row["c"] == 1)]
    if wrong:
        return decided("refuted", f"c = {wrong[0]['c']}: ratio {wrong[0]['ratio']}", {**evidence, "counterexample": wrong[0]})
    return decided("verified", "(c² + 4c²)/(1 + 4c²) > 1 for every c > 1, towards 5/4: the same ε with less noise", evidence)


def even_split(quick: bool, *, weight: int = 2) -> Decision:
    """ε_1 = ε_2, which the variants use, against 1 : (weight·c)^(2/3): how much more variance? Equal only for weight·c = 1."""
    rows: list[Row] = []
    for cutoff in (1, 10, 100):
        share = 1 / (1 + MP.mpf(weight * cutoff) ** (MP.mpf(2) / 3))
        ratio = variance(MP.mpf(1) / 2, 2 * cutoff) / variance(share, 2 * cutoff)
        rows.append({"c": cutoff, "even over best": short(ratio)})
    evidence: Row = {"variances": rows, "range": "every c, as the best split is unique and not even; c = 1, 10, 100 measured"}
    below = [row for row in rows if row["even over best"] <= 1]
    if below:
        return decided("refuted", f"c = {below[0]['c']}: even is no worse", {**evidence, "counterexample": below[0]})
    words = f"{rows[0]['even over best']:.4g} times the least variance at c = 1, {rows[-1]['even over best']:.4g} at c = 100"
    return decided("verified", words, evidence)


CODE = ("proofs_checks.sparse_vector.variants",)
CHECKS = (
    Check("svt.split", f"{PAPER}, allocation", "ε_1 : ε_2 = 1 : (2c)^(2/3) has the least variance",
          partial(best_split, weight=lambda c: 2 * c), (__name__, *CODE)),
    Check("svt.split-monotone", f"{PAPER}, allocation", "for monotone queries ε_1 : ε_2 = 1 : c^(2/3) has",
          partial(best_split, weight=lambda c: c), (__name__, *CODE)),
    Check("svt.even-split", "Algorithms 1–3, 5 and 6", "ε_1 = ε_2 has more variance than needed", even_split,
          (__name__, *CODE)),
    Check("svt2.more-noise", f"{PAPER}, Algorithm 2", "for c > 1 the book's algorithm has more variance than Algorithm 1",
          book_pays_more, (__name__, *CODE)),
)  # fmt: skip
