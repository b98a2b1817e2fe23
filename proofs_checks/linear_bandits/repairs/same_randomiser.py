"""One randomiser for all reports: δ(ε) ≤ E[(ΣG_i)_+]/n with G = p−e or 1−pe, each with probability 1/(1+p), else 0.

It is the value of the "stronger clone" (Feldman, McMillan, Talwar 2023), whose proof fails for general randomisers (errata).
Here p = e^ε0, e = e^ε, 1 ≤ e < p, n reports of one ε0-LDP randomiser R, none chosen by what others reported, one record replaced.

1. ω = max(R_0, R_1)/p ≤ R_x for every x, so δ ≤ E[(ΣG_i)_+]/n with G = (R_0 − eR_1)/ω at a point of ω, else 0 (Balle et al. 2019,
   Lemma 5.3).
2. An output with R_0 = ℓR_1, 1 < ℓ < p, is (ℓ,1) = a(p,1) + b(1,1). Split so, ω is the same and G is the mean of its parts: by
   Jensen the sum can only grow. The same for ℓ < 1. What is left are ratios p and 1/p, with mass α each, and 1.
3. The part with ratio 1, b = 1 − α(1+p), is replaced by b/(1+p) more of each: the difference ν of the laws of G has mass 0 and
   mean 0, and ∫(x−k)_+ dν ≥ 0 for every k. So the law rises in the convex order, which independent sums keep, up to α = 1/(1+p).

Position j may also have its own ε0-LDP randomiser R^j, where clients are dealt to positions by a uniform permutation that is
independent of data and unseen; an observer may see which report stands where. Draw the report of each other client, at position
i, from ω_i with probability |ω_i|, else from what is left of R^i, and tell at which positions F the latter stand, and who stands
there. The target is at each position outside F alike, and wherever it is there are equally many ways to deal the rest, so that
P − eQ is (1/n)Σ_{j∉F} G_j(y_j)·Π_{i∉F} ω_i(y_i) times a factor without j. Summed over who stands on F, δ ≤ E[(ΣG_j)_+]/n with
independent G_j, each as in step 1, and steps 2 and 3 hold for each of them.

A label that everybody sees beside the report makes the crowd that of the label: then n counts its reports alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import decided

Rows = Sequence[Sequence[Fraction]]
Law = list[tuple[Fraction, Fraction]]  # (weight, value of G); the rest of 1 sits at 0
Worst = Callable[[Fraction, Fraction], Law]
ONE, NONE = Fraction(1), Fraction(0)


def worst_law(p: Fraction, e: Fraction) -> Law:
    """The law of the theorem."""
    return [(1 / (1 + p), p - e), (1 / (1 + p), 1 - p * e)]


def blanket_law(zero: Sequence[Fraction], one: Sequence[Fraction], p: Fraction, e: Fraction) -> Law:
    """Step 1: G with ω = max(R_0, R_1)/p."""
    return [(max(a, b) / p, (a - e * b) * p / max(a, b)) for a, b in zip(zero, one, strict=True)]


def split_law(zero: Sequence[Fraction], one: Sequence[Fraction], p: Fraction, e: Fraction) -> Law:
    """Step 2: every output as ratios p, 1/p and 1."""
    law: Law = []
    for a, b in zip(zero, one, strict=True):
        extreme = abs(a - b) / (p - 1)  # the smaller side of the part with ratio p or 1/p
        law += [(extreme, p - e if a > b else 1 - p * e), ((min(a, b) - extreme) / p, p * (1 - e))]
    return [(weight, value) for weight, value in law if weight]


def is_mean_of_its_parts(p: Fraction, e: Fraction, ratio: Fraction) -> bool:
    """Step 2 for one output with R_0 = ratio·R_1: no part is negative, ω and the mean of G stay."""
    whole, parts = blanket_law([ratio], [ONE], p, e), split_law([ratio], [ONE], p, e)
    return all(w >= 0 for w, _ in parts) and _moment(whole, 0) == _moment(parts, 0) and _moment(whole, 1) == _moment(parts, 1)


def rises_in_convex_order(p: Fraction, e: Fraction, b: Fraction) -> bool:
    """Step 3 for a part b with ratio 1: mass and mean of ν are 0, and ∫(x−k)_+ dν, linear between values, is ≥ 0 at each."""
    a = b / (1 + p)
    nu = [(a, p - e), (a, 1 - p * e), (-b / p, p * (1 - e)), (b / p - 2 * a, NONE)]
    return _moment(nu, 0) == 0 == _moment(nu, 1) and all(
        sum(weight * max(value - k, NONE) for weight, value in nu) >= 0 for _, k in nu
    )


def _moment(law: Law, power: int) -> Fraction:
    return sum((weight * value**power for weight, value in law), NONE)


def sum_delta(law: Law, n: int) -> Fraction:
    """E[(ΣG_i)_+]/n by listing how often each value occurs."""
    merged: dict[Fraction, Fraction] = {NONE: 1 - _moment(law, 0)}
    for weight, value in law:
        merged[value] = merged.get(value, NONE) + weight
    sums = {NONE: ONE}
    for _ in range(n):
        following: dict[Fraction, Fraction] = {}
        for (total, chance), (value, weight) in itertools.product(sums.items(), merged.items()):
            following[total + value] = following.get(total + value, NONE) + chance * weight
        sums = following
    return sum((chance * max(total, NONE) for total, chance in sums.items()), NONE) / n


def exact_delta(rows: Rows, n: int, e: Fraction, pair: tuple[int, int]) -> Fraction:
    """The largest δ(ε) of n shuffled reports over the others' values, for a target that holds one of a pair."""
    worst = NONE
    for others in itertools.combinations_with_replacement(range(len(rows)), n - 1):
        first, second = (_reports(rows, (target, *others)) for target in pair)
        worst = max(worst, sum((max(first[outcome] - e * second[outcome], NONE) for outcome in first), NONE))
    return worst


def _reports(rows: Rows, inputs: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
    law: dict[tuple[int, ...], Fraction] = {}
    for outputs in itertools.product(range(len(rows[0])), repeat=len(inputs)):
        multiset = tuple(sorted(outputs))
        law[multiset] = law.get(multiset, NONE) + math.prod((rows[x][y] for x, y in zip(inputs, outputs, strict=True)), start=ONE)
    return law


def dealt_delta(randomisers: Sequence[Rows], e: Fraction, pair: tuple[int, int], *, secret: bool = True) -> Fraction:
    """The largest δ(ε) over the others' values where position j has randomiser j, and the observer sees which report is whose
    position's; ``secret``: clients are dealt to positions by a permutation that nobody sees, else the target stands first."""
    positions, worst = range(len(randomisers)), NONE
    deals = list(itertools.permutations(positions)) if secret else [tuple(positions)]
    for others in itertools.product(range(len(randomisers[0])), repeat=len(randomisers) - 1):
        delta = NONE
        for view in itertools.product(*(range(len(rows[0])) for rows in randomisers)):
            first, second = (
                sum((math.prod(randomisers[j][(x, *others)[deal[j]]][view[j]] for j in positions) for deal in deals), NONE)
                for x in pair
            )
            delta += max(first - e * second, NONE) / len(deals)
        worst = max(worst, delta)
    return worst


def dealt_cases(quick: bool) -> list[tuple[Fraction, list[Rows]]]:
    """(p, a randomiser for each position), all of them with ratios of at most p."""
    by_ratio: dict[Fraction, list[Rows]] = {}
    for p, rows in channels(30 if quick else 60, seed=2):
        by_ratio.setdefault(p, []).append(rows)
    sizes = (2, 2, 2, 3) if quick else (2, 2, 2, 2, 3, 3)
    return [(p, list(several[start : start + n])) for p, several in by_ratio.items() for start, n in enumerate(sizes)]


def channels(count: int, seed: int = 1) -> list[tuple[Fraction, Rows]]:
    """(p, R): rows are orders of the same numbers between m and pm, so that every ratio is at most p; binary response first."""
    rng, randomisers = np.random.default_rng(seed), list[tuple[Fraction, Rows]]()
    randomisers.append((Fraction(3), [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]))
    while len(randomisers) < count:
        p, outputs = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        numbers = [2, 2 * p, *(int(x) for x in rng.integers(2, 2 * p + 1, outputs - 2))]
        rows = [[Fraction(numbers[i], sum(numbers)) for i in rng.permutation(outputs)] for _ in range(3)]
        randomisers.append((Fraction(p), rows))
    return randomisers


def labelled_delta(p: Fraction, e: Fraction) -> Fraction:
    """Two reports (label, bit) with different public labels: the other one hides nothing, δ is that of one binary response."""
    return (p - e) / (1 + p)


def broken_step(rows: Rows, p: Fraction, e: Fraction, n: int, worst: Worst) -> dict[str, Any] | None:
    """δ ≤ blanket ≤ split ≤ theorem, for every ordered pair of rows: where that fails."""
    bound = sum_delta(worst(p, e), n)
    for pair in itertools.permutations(range(len(rows)), 2):
        zero, one = rows[pair[0]], rows[pair[1]]
        chain = [exact_delta(rows, n, e, pair), *(sum_delta(law(zero, one, p, e), n) for law in (blanket_law, split_law)), bound]
        if chain != sorted(chain):
            return {"n": n, "e^ε0": p, "e^ε": e, "rows": rows, "pair": pair, "δ, blanket, split, theorem": chain}
    return None


def same_randomiser(quick: bool, *, worst: Worst = worst_law) -> Decision:
    """Every step in exact fractions, and the whole chain for randomisers whose outcomes are all listed."""
    levels = [
        (Fraction(p), Fraction(e)) for p in ("3/2", "3", "20") for e in ("1", "5/4", "2", "19") if Fraction(e) < Fraction(p)
    ]
    ratios = [(p, e, 1 / p + (p - 1 / p) * Fraction(k, 12)) for p, e in levels for k in range(13)]
    shares = [(p, e, Fraction(k, 6)) for p, e in levels for k in range(1, 7)]
    cases = [
        (rows, p, e, n)
        for p, rows in channels(4 if quick else 12)
        for e in (ONE, Fraction(5, 4), Fraction(7, 4))
        for n in ((1, 2) if quick else (1, 2, 3))
    ]
    unsplit = [case for case in ratios if not is_mean_of_its_parts(*case)]
    unordered = [case for case in shares if not rises_in_convex_order(*case)]
    broken = next((step for case in cases if (step := broken_step(*case, worst)) is not None), None)
    p, e = Fraction(3), Fraction(3, 2)
    dealt = dealt_cases(quick)
    uncovered = [case for case in dealt if dealt_delta(case[1], e, (0, 1)) > sum_delta(worst(case[0], e), len(case[1]))]
    evidence: dict[str, Any] = {
        "range": f"e^ε0 from 3/2 to 20, n ≤ {cases[-1][3]}, randomisers with at most 3 outputs: exact fractions",
        "step 1": "Balle et al. 2019, Lemma 5.3, and the first link of the chain below",
        "step 2, split by Jensen": f"holds in {len(ratios) - len(unsplit)} of {len(ratios)} cases",
        "step 3, convex order": f"holds in {len(shares) - len(unordered)} of {len(shares)} cases",
        "δ ≤ blanket ≤ split ≤ theorem": f"{len(cases)} cases, all pairs, all values of the others" if broken is None else broken,
        "positions dealt by a secret permutation": f"δ ≤ theorem in {len(dealt) - len(uncovered)} of {len(dealt)} cases",
        "not covered": "randomisers chosen by earlier reports (clones hold there); those of a client, and public labels:",
        "two reports with different labels": {
            "e^ε0": p, "e^ε": e, "δ": labelled_delta(p, e), "the theorem with n = 2": sum_delta(worst_law(p, e), 2),
            "with n = 1": sum_delta(worst_law(p, e), 1),
        },
    }  # fmt: skip
    if unsplit or unordered or uncovered or broken is not None:
        return decided("refuted", f"a step fails: {unsplit[:1] or unordered[:1] or uncovered[:1] or broken}", evidence)
    argument = "privacy blanket (Balle et al. 2019, Lemma 5.3, cited), each ratio split into its two ends (Jensen), convex order"
    return decided("verified", f"{argument}; the whole chain holds in {len(cases)} enumerated cases", evidence)


STATEMENT = (
    "n shuffled reports of one ε0-LDP randomiser, none chosen by what others reported, or of one for each position where clients "
    "are dealt to positions by a uniform permutation that is independent of data and unseen, have δ(ε) ≤ E[(ΣG_i)_+]/n, "
    "G = e^ε0 − e^ε or 1 − e^(ε0+ε) with probability 1/(1 + e^ε0) each, else 0, for 0 ≤ ε < ε0"
)
CHECKS = [
    Check(
        "shuffle.same-randomiser", "ours; the stronger clone of Feldman, McMillan, Talwar 2023 with another proof", STATEMENT,
        same_randomiser, ("dpaudit.accountants.shuffle.clone",),
    )
]  # fmt: skip
