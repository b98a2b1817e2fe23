"""Lemma 2: a core set of at most Bd actions with leverage ≤ 2d, found in polynomial time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from algorithms.actions.core_set import core_set, leverage
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.lemmas.action_families import FAMILIES
from proofs_checks.linear_bandits.lemmas.exchange_design import (
    enough,
    exchange,
    exchanges_at_most,
    leverage_at_most,
    worst_local_optimum,
)
from proofs_checks.linear_bandits.lemmas.net import Points, rank
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import short

B = 2
SMALL: tuple[Points, ...] = (
    [(1, 0), (0, 1), (1, 1), (2, 1), (-1, 2)],
    [(1, 0), (3, 1), (3, 2), (3, 4), (3, 5)],
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, -1, -1)],
    [(2, 0, 0), (1, 2, 0), (1, 1, 2), (1, 1, 1), (-1, 2, 1)],
)


def _enough(b: int) -> str:
    return "enough" if enough(b) else "not enough"


def simplex_leverage(d: int) -> int:
    """The least leverage that any d of e_1, …, e_d, −Σe_i (scaled into the ball) can have: d².

    Any d of them are a basis, and the action left out is minus their sum, so that its leverage is Σ 1/π_i ≥ d².
    """
    actions = [tuple(int(i == j) for j in range(d)) for i in range(d)] + [tuple(-1 for _ in range(d))]
    assert all(rank(actions[:k] + actions[k + 1 :]) == d for k in range(d + 1))
    return d * d


def needle(count: int) -> bool:
    """count actions in the plane, one of which alone has a second coordinate: whichever is left unread may be that one."""
    for hidden in range(count):
        actions: Points = [(k + 1, int(k == hidden)) for k in range(count)]
        if rank(actions) != 2 or rank(actions[:hidden] + actions[hidden + 1 :]) != 1:
            return False
    return True


def _core_sets(quick: bool) -> list[Row]:
    """Core sets of hard action sets, by the code that the algorithms use."""
    sizes = [(1, 50), (2, 300), (5, 300), (10, 500)] if quick else [(1, 50), *((d, 3000) for d in (2, 3, 5, 10, 20, 40))]
    rng, rows = np.random.default_rng(2), []
    for d, k in sizes:
        for name, family in FAMILIES.items():
            design = core_set(family(rng, k, d))
            rows.append({"A": name, "d": d, "|A|": k, "support": len(design.support), "leverage/d": short(design.leverage / d)})
    return rows


def _exchanged(quick: bool) -> list[Row]:
    """2d actions by exchange, weights 1/(2d)."""
    sizes = [(2, 300), (5, 300), (10, 500)] if quick else [(d, 3000) for d in (2, 3, 5, 10, 20, 40)]
    rng, rows = np.random.default_rng(12), []
    for d, k in sizes:
        for name, family in FAMILIES.items():
            actions = family(rng, k, d)
            chosen, swaps = exchange(actions)
            used, share = np.unique(chosen, return_counts=True)
            reached = leverage(actions, used, share / len(chosen))
            row = {"A": name, "d": d, "|A|": k, "support": len(used), "leverage/d": short(reached / d)}
            rows.append({**row, "exchanges": swaps, "at most": math.floor(exchanges_at_most(d))})
    return rows


def _local_optima() -> list[Row]:
    """Every set of 2d of a few whole-number actions that no exchange improves: its leverage beside the bound, exactly."""
    rows: list[Row] = []
    for points in SMALL:
        d = len(points[0])
        count, worst = worst_local_optimum(points, B * d)
        rows.append(
            {
                "A": [list(point) for point in points],
                "local optima": count,
                "leverage": worst,
                "bound": leverage_at_most(d, B * d),
            }
        )
    return rows


def core_set_leverage(
    quick: bool, *, size: Callable[[int], int] = lambda d: B * d, inputs: Callable[[int], int] = lambda d: 30**d
) -> Decision:
    """``size``: how many actions a core set may have. ``inputs``: |A| in dimension d; Lemma 1's net has (3T)^d, here T = 10."""
    rows, few, optima = _core_sets(quick), _exchanged(quick), _local_optima()
    too_small = next((d for d in range(3, 200) if size(d) <= d and simplex_leverage(d) > 2 * d), None)
    unproven = [d for d in range(1, 10_000) if size(d) < min(d * (d + 1) // 2, B * d)]
    degrees = [math.log(inputs(d)) / math.log(d) for d in (10, 1000)]  # of a polynomial, they would be about equal
    polynomial = degrees[1] <= 2 * degrees[0] or not needle(8)
    evidence: dict[str, Any] = {
        "proven": f"d(d+1)/2 actions of leverage d (Carathéodory); {B}·d of leverage ≤ 2d, equal weights (exchange: k = bd "
        f"actions have leverage ≤ k(d+1)/(k−d+1); b = {B} is {_enough(B)}, b = {B - 1} is {_enough(B - 1)}); for every d",
        "range": "size: every d and every finite A; runs: the sets below",
        "found by the code (Frank–Wolfe)": rows,
        "found by exchange": few,
        "all local optima of small sets, exactly": optima,
        "time": "exchange: |A|·d² operations each, fewer than d·log d/log(1 + 1/(2d)) of them; Frank–Wolfe: O(d log log d) steps",
        "readings": "polynomial in the size of A: yes. In d alone: no, as a single action may span a direction, so that all of A "
        f"must be read, and Lemma 1's net has (3T)^d actions: {inputs(10):.3g} for d = 10",
    }
    if too_small is not None:
        sizes = f"d² = {too_small**2} > 2d = {2 * too_small}"
        summary = f"d = {too_small}, A = {{e_1, …, e_d, −Σe_i}}: any d actions have leverage ≥ {sizes}"
        return decided("refuted", summary, evidence)
    far = [row for row in [*rows, *few] if row["support"] > size(row["d"]) or row["leverage/d"] > 2 + 1e-9]
    above = [row for row in optima if row["leverage"] > row["bound"] or not row["local optima"]]
    if unproven or far or above or not enough(B):
        return decided("conditional", "the size is not proven, or was not reached", evidence)
    most = max(row["support"] / row["d"] for row in rows)
    size_proven = f"{B}·d actions are enough for every d (found: ≤ {most:.3g}·d in {len(rows)} sets)"
    if not polynomial:
        summary = f"{size_proven}; polynomial in d and |A|, but |A| = (3T)^d: not in d alone"
        return decided("conditional", summary, evidence, "polynomial in d and |A|")
    return decided("verified", f"{size_proven}; polynomial in d", evidence)


USED = ("proofs_checks.linear_bandits.lemmas.action_families", "proofs_checks.linear_bandits.lemmas.exchange_design")
CHECKS = (
    Check(
        "lemma-core.leverage",
        "Lemma 2",
        "a core set of at most Bd actions with leverage ≤ 2d exists, found in polynomial time in d",
        core_set_leverage,
        ("algorithms.actions.core_set", "algorithms.actions.span", "algorithms.actions.design_weights", *USED),
    ),
)
