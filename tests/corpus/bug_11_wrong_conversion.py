"""Permute-and-flip charged as if it were the exponential mechanism: ρ = ε²/8 instead of ε²/2, a quarter of the budget.

OpenDP issue 2911. 32 choices with ε = 1/2 each; ρ-zCDP gives (ρ + 2√(ρ ln(1/δ)), δ) (Bun, Steinke 2016), so 32/32 at δ = 0.05.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
EPSILON, CHOICES = 0.5, 32
claim = dp.Claim(epsilon="4.462", delta="0.05")
pairs = [(np.array([0, 0]), np.array([1, -1]))]  # two scores; one record moves each by at most 1


def wins_of_second(probability: float, rng: Any, trials: int) -> Any:
    return (rng.random((trials, CHOICES)) < probability).sum(axis=1)


@dp.subject(claim=claim, neighbours=pairs)
def bug(scores: Any, rng: Any, trials: Any) -> Any:
    """Permute and flip: in random order, a candidate is accepted with probability e^(−ε·(best − own)/2)."""
    gap = (scores.max() - scores) * EPSILON / 2
    accepted = np.exp(-gap)
    return wins_of_second(0.5 * accepted[1] + 0.5 * (1 - accepted[0]), rng, trials)


@dp.subject(claim=claim, neighbours=pairs)
def repaired(scores: Any, rng: Any, trials: Any) -> Any:
    """The exponential mechanism: with probability proportional to e^(ε·score/2)."""
    weights = np.exp(EPSILON * scores / 2)
    return wins_of_second(weights[1] / weights.sum(), rng, trials)
