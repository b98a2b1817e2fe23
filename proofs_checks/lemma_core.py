"""Lemma 2: a core set of at most Bd actions with leverage ≤ 2d, found in polynomial time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from algorithms.core_set import core_set, leverage
from dpaudit.papers import Check, Decision
from proofs_checks.action_families import FAMILIES
from proofs_checks.decisions import Row, decided
from proofs_checks.frank_wolfe import descend, line_search, uniform
from proofs_checks.laplace_tails import short
from proofs_checks.lemma_net import Points, rank

B = 34


def sparsification_suffices(b: int) -> bool:
    """((√b + 1)/(√b − 1))² ≤ 2, in whole numbers: b + 1 + 2√b ≤ 2(b + 1 − 2√b) ⇔ 6√b ≤ b + 1.

    Batson, Spielman and Srivastava 2012: of vectors with Σ v v^T = I, b·d with weights s have I ≤ Σ s v v^T ≤ that·I. From an
    optimal design (leverage d at each action of its support; Kiefer and Wolfowitz 1960) the weights then sum to at most that,
    so that the leverage is at most that times d.
    """
    return 36 * b <= (b + 1) ** 2


def sparsify(actions: np.ndarray, weights: np.ndarray, b: int) -> np.ndarray:
    """Their algorithm: b·d steps between two barriers. Returns the new weights, which sum to 1."""
    dim, root = actions.shape[1], math.sqrt(b)
    factor = np.linalg.cholesky(np.linalg.inv((actions * weights[:, None]).T @ actions))
    vectors = np.sqrt(weights)[:, None] * (actions @ factor)
    lower, upper, found = -dim * root, dim * (b + root) / (root - 1), np.zeros((dim, dim))
    chosen = np.zeros(len(actions))
    for _ in range(b * dim):
        eigenvalues, basis = np.linalg.eigh(found)
        squares = (vectors @ basis) ** 2
        new_lower, new_upper = lower + 1, upper + (root + 1) / (root - 1)
        high, low = 1 / (new_upper - eigenvalues), 1 / (eigenvalues - new_lower)
        fall = (1 / (upper - eigenvalues)).sum() - high.sum()
        rise = low.sum() - (1 / (eigenvalues - lower)).sum()
        above = squares @ (high**2 / fall + high)
        below = squares @ (low**2 / rise - low)
        pick = int((below - above).argmax())
        amount = 2 / (above[pick] + below[pick])
        found += amount * np.outer(vectors[pick], vectors[pick])
        chosen[pick] += amount
        lower, upper = new_lower, new_upper
    scaled = chosen * weights
    result: np.ndarray = scaled / scaled.sum()
    return result


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


def _found(quick: bool) -> list[Row]:
    """Core sets of hard action sets, by the code that the algorithms use."""
    sizes = [(1, 50), (2, 300), (5, 300), (10, 500)] if quick else [(1, 50), *((d, 3000) for d in (2, 3, 5, 10, 20, 40))]
    rng, rows = np.random.default_rng(2), []
    for d, k in sizes:
        for name, family in FAMILIES.items():
            design = core_set(family(rng, k, d))
            rows.append({"A": name, "d": d, "|A|": k, "support": len(design.support), "leverage/d": short(design.leverage / d)})
    return rows


def _sparsified(quick: bool) -> list[Row]:
    rng, rows = np.random.default_rng(12), []
    for d, k in [(2, 60), (4, 100)] if quick else [(2, 200), (4, 400), (8, 1000)]:
        actions = FAMILIES["thin"](rng, k, d)
        _, weights, _ = descend(actions, uniform(actions), line_search, 200)
        few = sparsify(actions, weights, B)
        used = np.flatnonzero(few)
        reached = leverage(actions, used, few[used])
        rows.append({"A": "thin", "d": d, "|A|": k, "support": len(used), "leverage/d": short(reached / d)})
    return rows


def core_set_leverage(
    quick: bool, *, size: Callable[[int], int] = lambda d: B * d, inputs: Callable[[int], int] = lambda d: 30**d
) -> Decision:
    """``size``: how many actions a core set may have. ``inputs``: |A| in dimension d; Lemma 1's net has (3T)^d, here T = 10."""
    rows, sparse = _found(quick), _sparsified(quick)
    too_small = next((d for d in range(3, 200) if size(d) <= d and simplex_leverage(d) > 2 * d), None)
    unproven = [d for d in range(1, 10_000) if size(d) < min(d * (d + 1) // 2, B * d)]
    degrees = [math.log(inputs(d)) / math.log(d) for d in (10, 1000)]  # of a polynomial, they would be about equal
    polynomial = degrees[1] <= 2 * degrees[0] or not needle(8)
    evidence: dict[str, Any] = {
        "proven": f"d(d+1)/2 actions of leverage d (Carathéodory); {B}·d of leverage ≤ 2d (sparsification: enough is "
        f"{B}: {sparsification_suffices(B)}, {B - 1}: {sparsification_suffices(B - 1)}); for every d",
        "found by the code (Frank–Wolfe)": rows,
        "found by sparsification": sparse,
        "time": "Frank–Wolfe: |A|·d² operations a step, O(d log log d) steps (remark-fw.initialisation)",
        "readings": "polynomial in the size of A: yes. In d alone: no, as a single action may span a direction, so that all of A "
        f"must be read, and Lemma 1's net has (3T)^d actions: {inputs(10):.3g} for d = 10",
    }
    if too_small is not None:
        sizes = f"d² = {too_small**2} > 2d = {2 * too_small}"
        summary = f"d = {too_small}, A = {{e_1, …, e_d, −Σe_i}}: any d actions have leverage ≥ {sizes}"
        return decided("refuted", summary, evidence)
    far = [row for row in [*rows, *sparse] if row["support"] > size(row["d"]) or row["leverage/d"] > 2 + 1e-9]
    if unproven or far or not sparsification_suffices(B):
        return decided("conditional", "the size is not proven, or was not reached", evidence)
    most = max(row["support"] / row["d"] for row in rows)
    found = f"{B}·d actions are enough for every d (found: ≤ {most:.3g}·d in {len(rows)} sets)"
    if not polynomial:
        summary = f"{found}; polynomial in d and |A|, but |A| = (3T)^d: not in d alone"
        return decided("conditional", summary, evidence, "polynomial in d and |A|")
    return decided("verified", f"{found}; polynomial in d", evidence)


CHECKS = (
    Check(
        "lemma-core.leverage",
        "Lemma 2",
        "a core set of at most Bd actions with leverage ≤ 2d exists, found in polynomial time in d",
        core_set_leverage,
        ("algorithms.core_set", "algorithms.core_set_span", "algorithms.core_set_weights", "proofs_checks.action_families"),
    ),
)
