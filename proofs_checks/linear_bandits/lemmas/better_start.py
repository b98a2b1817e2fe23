"""The remark after Lemma 2, last sentence: a better start frees the iterations of |A|, and the core set has size O(d).

The remark names no start. One is proven here in every dimension: 2d exchanged actions (exchange_design.py). For the start of the
book that it cites (d farthest actions; Kumar and Yildirim 2005) steps and size are proven for O(d log log d) only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.actions.span import span
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.lemmas.action_families import FAMILIES
from proofs_checks.linear_bandits.lemmas.exchange_design import enough, exchanged
from proofs_checks.linear_bandits.lemmas.frank_wolfe import KAPPA, Start, descend, farthest, line_search, sizes, steps_at_most
from proofs_checks.shared.decisions import Row, decided
from proofs_checks.shared.laplace_tails import short


@dataclass(frozen=True)
class Promise:
    """A start and what is proven of it in every dimension d: at most ``actions``·d actions, log det V* − log det V_0 at most
    d·(``constant`` + ``growth``·log d), and leverage at most ``leverage``·d (None: not known)."""

    name: str
    start: Start
    actions: float
    constant: float
    growth: float
    leverage: float | None = None

    def steps(self, d: int) -> float:
        if self.leverage is not None and self.leverage <= 2:
            return 0.0
        return steps_at_most(d, self.constant + self.growth * math.log(d))

    def size(self, d: int) -> float:
        return self.actions * d + self.steps(d)

    @property
    def most(self) -> float:
        """sup over all d of size(d)/d, in closed form: a gap that grows as log d lets it grow as log log d, without end."""
        if self.leverage is not None and self.leverage <= 2:
            return self.actions
        if self.growth > 0:
            return math.inf
        return self.actions + steps_at_most(1, self.constant)


EXCHANGED = Promise("2d exchanged actions", exchanged, 2, math.log(2), 0, leverage=2 if enough(2) else None)
FARTHEST = Promise("d farthest actions (Kumar and Yildirim 2005)", farthest, 1, 0, 1)


def _log_det(actions: np.ndarray, weights: np.ndarray) -> float:
    return float(np.linalg.slogdet((actions * weights[:, None]).T @ actions)[1])


def _run(promise: Promise, name: str, actions: np.ndarray) -> Row:
    """Frank–Wolfe from the start: what was promised is measured. Its gain in log det is at most the gap at the start."""
    d, first = actions.shape[1], promise.start(actions)
    taken, weights, _ = descend(actions, first, line_search, 2000)
    _, _, before = descend(actions, first, line_search, 0)
    gap = _log_det(actions, weights) - _log_det(actions, first) if math.isfinite(before) else math.inf
    broken = [
        promised
        for promised, holds in (
            ("actions", (first > 0).sum() <= promise.actions * d),
            ("gap", gap <= d * (promise.constant + promise.growth * math.log(d)) + 1e-9),
            ("leverage", promise.leverage is None or before <= promise.leverage * d * (1 + 1e-9)),
            ("steps", taken <= promise.steps(d) + 1e-9),
            ("size", (weights > 0).sum() <= promise.size(d)),
        )
        if not holds
    ]
    return {
        "A": name, "d": d, "|A|": len(actions), "steps": taken, "support": int((weights > 0).sum()),
        "promised": math.floor(promise.size(d)), "broken": ", ".join(broken),
    }  # fmt: skip


def _runs(quick: bool, promise: Promise) -> list[Row]:
    """Hard action sets, in coordinates of their span: leverage and ratios of determinants are the same in every basis."""
    rng = np.random.default_rng(5)
    return [
        _run(promise, name, span(family(rng, count, d)[None]).coordinates[0])
        for d, k in sizes(quick)
        for count in (k // 4, k)
        for name, family in FAMILIES.items()
    ]


def _promise_row(promise: Promise) -> Row:
    """The promise in numbers: per dimension at some d, and its supremum over all of them."""
    shown = {f"d = 10^{e}": short(promise.size(10**e) / 10**e, 4) for e in (1, 3, 9, 100)}
    return {"start": promise.name, **shown, "sup over all d": short(promise.most, 4) if math.isfinite(promise.most) else "∞"}


def initialisation(quick: bool, *, promise: Promise = EXCHANGED) -> Decision:
    """Refuted if a run breaks what is promised; verified if size/d is bounded over all d; else conditional."""
    rows = _runs(quick, promise)
    most = max(row["support"] / row["d"] for row in rows)
    ran = f"{len(rows)} runs, d ≤ {max(row['d'] for row in rows)}, |A| ≤ {max(row['|A|'] for row in rows)}"
    evidence: dict[str, Any] = {
        "start": promise.name,
        "proven size/d": [_promise_row(each) for each in dict.fromkeys((promise, EXCHANGED, FARTHEST))],
        "largest support/d in the runs": short(most),
        "range": f"the supremum over every d in closed form; {ran}",
        "why 2d": "where no exchange of one of k actions for another raises det V by more than 1 + 1/k, summing over the k gives "
        "τ ≤ (d + 1)/(k − d + 1) for every action's τ = a^T V^{-1} a, and weights 1/k have leverage kτ ≤ 2d for k = 2d",
        "free of |A|": "2d exchanged actions have leverage ≤ 2d at once, after fewer than d·log d/log(1 + 1/(2d)) exchanges; "
        f"d farthest actions need (d/κ)(1 + log log₂d) steps, 1/κ = {1 / KAPPA:.4g}",
        "readings": "the remark names no start. In the book that it cites (Lattimore and Szepesvári, ch. 21) it is Kumar and "
        "Yildirim's, with O(d log log d) steps: the size proven for that one is O(d log log d), not O(d), and no set is known "
        "here on which it is larger than 2d",
        "runs": rows,
    }
    broken = [row for row in rows if row["broken"]]
    if broken:
        row = broken[0]
        where = f"{row['A']}, d = {row['d']}, |A| = {row['|A|']}"
        evidence["counterexample"] = row
        summary = f"{where}: support {row['support']}, promised {row['promised']} (broken: {row['broken']})"
        return decided("refuted", summary, evidence)
    if not math.isfinite(promise.most):
        grows = f"{promise.size(100) / 100:.3g} at d = 100, {promise.size(10**9) / 1e9:.3g} at 10^9"
        summary = f"{promise.name}: free of |A|, but proven size/d grows as log log d ({grows}); measured ≤ {most:.3g}"
        return decided(
            "conditional", summary, evidence, f"O(d log log d) for this start; {EXCHANGED.most:g}·d from {EXCHANGED.name}"
        )
    summary = f"from {promise.name}: at most {promise.most:.3g}·d in every dimension, free of |A|; measured ≤ {most:.3g}·d"
    summary += "; for the start of the cited book only O(d log log d) is proven" if promise is EXCHANGED else ""
    return decided("verified", summary, evidence)


START = "a better start frees the iterations of |A| and gives a core set of size O(d)"
USED = (
    "algorithms.actions.span",
    "proofs_checks.linear_bandits.lemmas.action_families",
    "proofs_checks.linear_bandits.lemmas.exchange_design",
    "proofs_checks.linear_bandits.lemmas.frank_wolfe",
)
CHECKS = (Check("remark-fw.initialisation", "remark after Lemma 2", START, initialisation, USED),)
