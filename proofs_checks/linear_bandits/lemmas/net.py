"""Lemma 1: a ζ-net of A inside A, of at most (3/ζ)^d + d actions, that spans."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import short

Points = list[tuple[int, ...]]  # coordinates in units of 1/UNIT
UNIT = 720
Build = Callable[[Points, Fraction], Points]


def printed_size(zeta: Fraction, d: int) -> Any:
    return (3 / zeta) ** d + d


def needed(zeta: Fraction, d: int) -> list[tuple[str, int]]:
    """Sets whose smallest net inside them is known exactly."""
    circle = math.ceil(math.pi / (2 * math.asin(float(zeta) / 2)) - 1e-9) if zeta < 2 else 1
    known = [("an orthonormal basis", d)]
    if d == 1:
        known.append(("[−1, 1]", math.ceil(1 / zeta)))  # a point covers a length of 2ζ
    if d == 2:
        known.append(("the circle", max(circle, 2)))  # a point covers an arc of 4·asin(ζ/2)
    if zeta**2 < 2:
        known.append(("{±e_1, …, ±e_d}", 2 * d))  # all distances are √2 or 2
    return known


def enough(zeta: Fraction, d: int) -> float | Fraction:
    """Proven: so many actions are enough, for every A. A largest subset with distances > ζ is a net; at most d more make it span.

    ζ ≤ 1: balls of radius ζ/2 around its points are disjoint and lie in a ball of radius 1 + ζ/2. 1 < ζ < √2: its points are
    pairwise at an angle of at least 2·asin(ζ/2), so that there are at most as many as disjoint caps. ζ ≥ √2: at most rank + 1
    (Rankin 1955).
    """
    if zeta <= 1:
        return (1 + 2 / zeta) ** d + d
    if zeta**2 >= 2:
        return d + 1
    half = math.asin(float(zeta) / 2)
    if d <= 3:
        return {1: 2, 2: math.floor(math.pi / half + 1e-9), 3: math.floor(2 / (1 - math.cos(half)) + 1e-9)}[d] + d
    # A cap's cone holds the cone over its base: the share of the ball is at least ω_{d−1} sin^{d−1} cos /(d ω_d).
    ratio = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2 + 1)) * math.sqrt(math.pi)  # ω_d/ω_{d−1}
    return d * ratio / (math.sin(half) ** (d - 1) * math.cos(half)) + d


def size(quick: bool, *, claimed: Callable[[Fraction, int], Any] = printed_size) -> Decision:
    """Known smallest nets must not exceed the claim; a proven construction must not need more than it."""
    zetas = [*(Fraction(1, t) for t in (1, 2, 3, 10, 10**3, 10**6)), Fraction(1, 7), Fraction(2, 3), Fraction(99, 100)]
    zetas += [1 + Fraction(k, 40) for k in range(1, 45)]
    dims = [1, 2, 3, 4, 5, 10, 30] if quick else list(range(1, 61))
    counter: list[Row] = []
    open_: list[Row] = []
    for zeta in zetas:
        for d in dims:
            bound = claimed(zeta, d)
            counter += [
                {"ζ": str(zeta), "d": d, "A": name, "needs": n, "claimed": short(bound)}
                for name, n in needed(zeta, d)
                if n > bound
            ]
            if math.floor(enough(zeta, d)) > bound:
                open_.append({"ζ": str(zeta), "d": d, "proven": short(enough(zeta, d)), "claimed": short(bound)})
    built = [
        _built(d, zeta, seed, claimed)
        for d in (1, 2, 3)
        for zeta in (Fraction(1), Fraction(1, 4))
        for seed in range(2 if quick else 6)
    ]
    evidence: dict[str, Any] = {
        "range": f"ζ = 10^-6, …, 2.1 ({len(zetas)} values), d = 1, …, {dims[-1]}; for ζ ≤ 1 every d, since 1 + 2/ζ ≤ 3/ζ",
        "nets built": f"{len(built)}, the largest with {max(share for share, _ in built):.2%} of the claimed size",
    }
    if counter:
        first = min(counter, key=lambda row: (row["d"], row["needs"]))
        where = f"ζ = {first['ζ']}, A = {first['A']}, d = {first['d']}"
        summary = f"{where}: every net has at least {first['needs']} actions, claimed {first['claimed']:g}"
        return decided("refuted", summary, {**evidence, "counterexamples": counter[:10]})
    if open_ or not all(good for _, good in built):
        summary = f"not proven at {len(open_)} of {len(zetas) * len(dims)} points"
        return decided("conditional", summary, {**evidence, "open": open_[:10]})
    summary = f"(1 + 2/ζ)^d + d ≤ (3/ζ)^d + d for ζ ≤ 1; proven at all {len(zetas) * len(dims)} (ζ, d), ζ ≤ 2.1"
    return decided("verified", summary, evidence)


def _sample(d: int, seed: int, flat: int = 1, count: int = 150) -> Points:
    """Points of the unit ball with coordinates in 1/UNIT; the last one is divided by ``flat``. The basis is among them."""
    rng = np.random.default_rng([d, seed])
    points = rng.standard_normal((count, d))
    points *= rng.random((count, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    rows = np.trunc(points * UNIT).astype(int)
    basis = np.eye(d, dtype=int) * UNIT
    rows = np.concatenate([rows, basis])
    if d > 1:
        rows[:, -1] //= flat
    return [tuple(int(x) for x in row) for row in np.unique(rows, axis=0)]


def _near(a: tuple[int, ...], b: tuple[int, ...], zeta: Fraction) -> bool:
    """|a − b| ≤ ζ, exactly."""
    squares = sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
    return squares * zeta.denominator**2 <= (zeta.numerator * UNIT) ** 2


def covers(net: Points, points: Points, zeta: Fraction) -> bool:
    return all(any(_near(point, other, zeta) for other in net) for point in points)


def rank(rows: Sequence[Sequence[int | Fraction]]) -> int:
    """Exact, by elimination over the fractions."""
    matrix = [[Fraction(x) for x in row] for row in rows]
    pivots = 0
    for column in range(len(matrix[0]) if matrix else 0):
        pivot = next((row for row in matrix[pivots:] if row[column]), None)
        if pivot is None:
            continue
        place = matrix.index(pivot, pivots)
        matrix[pivots], matrix[place] = matrix[place], matrix[pivots]
        for row in matrix[pivots + 1 :]:
            factor = row[column] / pivot[column]
            row[:] = [x - factor * y for x, y in zip(row, pivot, strict=True)]
        pivots += 1
    return pivots


def separated(points: Points, zeta: Fraction) -> Points:
    """A largest subset with all distances > ζ, taken in order: a ζ-net."""
    chosen: Points = []
    for point in points:
        if not any(_near(point, other, zeta) for other in chosen):
            chosen.append(point)
    return chosen


def spanning(points: Points, zeta: Fraction) -> Points:
    """The same, and every action that adds a dimension: at most d − 1 more, as one nonzero action is in it or added."""
    chosen = separated(points, zeta)
    reached = rank(chosen)
    for point in points:
        if reached == len(point):
            break
        if rank([*chosen, point]) > reached:
            chosen.append(point)
            reached += 1
    return chosen


def _built(d: int, zeta: Fraction, seed: int, claimed: Callable[[Fraction, int], Any]) -> tuple[float, bool]:
    points = _sample(d, seed)
    net = spanning(points, zeta)
    return float(len(net) / claimed(zeta, d)), covers(net, points, zeta) and len(net) <= claimed(zeta, d)


def spans(quick: bool, *, build: Build = spanning) -> Decision:
    """Nets of thin sets, whose last direction is far below ζ: exact rank, cover and size."""
    sets = [
        (d, f"1/{flat}", _sample(d, seed, flat, 60))
        for d in (2, 3, 4)
        for flat in (1, 30, 720)
        for seed in range(1 if quick else 3)
    ]
    # Multiples of e_1/4, and (0, 1/8): at ζ = 1/4 the net of the line covers the other action as well, and spans a line.
    sets.append((2, "one action", [*((UNIT * k // 4, 0) for k in range(-4, 5)), (0, UNIT // 8)]))
    zeta = Fraction(1, 4)
    rows: list[Row] = []
    for d, thickness, points in sets:
        net = build(points, zeta)
        row = {"d": d, "thickness": thickness, "actions": len(points), "net": len(net), "rank": rank(net)}
        rows.append({**row, "covers": covers(net, points, zeta), "within the size": len(net) <= printed_size(zeta, d)})
    evidence = {
        "nets, ζ = 1/4": rows,
        "range": "exact arithmetic; in general: A spans, so at most d actions of A complete any net",
    }
    bad = [row for row in rows if row["rank"] < row["d"]]
    if bad:
        last = bad[-1]
        return decided("refuted", f"d = {last['d']}: a net of {last['net']} actions has rank {last['rank']}", evidence)
    if not all(row["covers"] and row["within the size"] for row in rows):
        return decided("conditional", "the net spans, but does not cover or is too large", evidence)
    argument = "A spans, so that at most d of its actions complete any net, and (3/ζ)^d + d counts them"
    return decided("verified", f"{argument}; all {len(rows)} nets built span, cover and keep the size", evidence)


CHECKS = (
    Check("lemma-net.size", "Lemma 1", "a ζ-net of at most (3/ζ)^d + d actions of A exists", size),
    Check("lemma-net.spans", "Lemma 1", "the net can be chosen to span R^d", spans),
)
