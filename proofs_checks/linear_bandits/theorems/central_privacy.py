"""Theorem 1: Algorithm 1, a trusted server, as printed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from algorithms import central
from dpaudit.claims import show
from dpaudit.papers.checks import Check, Decision
from proofs_checks.linear_bandits.algorithms.last_action import last_action, with_closed_form
from proofs_checks.shared.audits import decide_by_audits

CODE = (
    "algorithms.elimination.central",
    "algorithms.elimination.confidence",
    "algorithms.elimination.loop",
    "algorithms.elimination.bandit_subject",
    "algorithms.registry",
)


def sensitivity(
    quick: bool, *, low: Fraction = Fraction(-1), high: Fraction = Fraction(1), claimed: Fraction = Fraction(1)
) -> Decision:
    """Each reward is in one sum, so neighbouring sums differ by |r − r'| in L1: convex in both, and largest at corners."""
    distance, reward, other = max((abs(r - s), r, s) for r, s in product((low, high), repeat=2))
    pair = {"r_k": reward, "r_k'": other, "‖r̄ − r̄'‖₁": distance, "claimed": claimed}
    evidence = {
        "summary": f"r_k = {show(reward)} against {show(other)} moves its sum by {show(distance)}; claimed is {show(claimed)}",
        "largest distance" if distance <= claimed else "counterexample": pair,
        "range": f"all pairs of rewards in [{show(low)}, {show(high)}]",
    }
    if distance <= claimed:
        return Decision("verified", evidence)
    return Decision("refuted", evidence, f"‖r̄ − r̄'‖₁ ≤ high − low = {show(high - low)}")


def privacy(quick: bool, *, make: Callable[..., Any] = central, calibration: str = "printed") -> Decision:
    """Algorithm 1 itself: in its smallest case in closed form, and audited for who sees the actions (Definition 1); who sees the
    noisy sums, whom the central model trusts, is shown beside them."""
    settings = [
        {"epsilon": epsilon, "horizon": horizon, "actions": (2, 1)}
        for epsilon in (("1",) if quick else ("1/10", "1", "5"))
        for horizon in ((10**4,) if quick else (10**4, 10**6))
    ]
    correction = "noise Lap(s/ε), s = high − low"
    audited = decide_by_audits(make, settings, ("actions", "server"), calibration, deciding=("actions",), correction=correction)
    smallest = [last_action(make, calibration, epsilon) for epsilon in ("1", "1/10", "5")]
    return with_closed_form(audited, smallest, correction)


CHECKS = (
    Check(
        "thm1.sensitivity",
        "proof of Theorem 1, privacy",
        "neighbouring concatenated reward sums differ by at most 1 in L1",
        sensitivity,
    ),
    Check("thm1.privacy", "Theorem 1", "Algorithm 1 as printed is ε-DP", privacy, CODE),
)
