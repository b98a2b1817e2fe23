"""Lower bounds on ε from counts of right and wrong guesses, at a stated confidence, whatever made the guesses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv

from dpaudit.auditors.binomial import least_count

_OUTWARD = 1e-10  # relative and absolute: what floating point may have added to a bound; half of it already covers scipy's error
_LEAST = 1e-300  # stands for a count of 0 where scipy wants more


@dataclass(frozen=True)
class Guesses:
    """Out of ``n`` runs with a fair coin each: ``right`` and ``wrong`` guesses; one-sided when only one answer is ever given."""

    right: int
    wrong: int
    n: int
    sides: int


@dataclass(frozen=True)
class Form:
    """How counts become a bound. ``share`` of α goes to the number of runs that δ may have given away."""

    name: str
    share: float = 0.0

    def __str__(self) -> str:
        return self.name


PURE = Form("pure")
DISCOUNTED = Form("discounted", 0.1)
DISCOUNTED_EVENLY = Form("discounted", 0.5)  # better where the right guesses are few beside nδ
TWO = Form("two intervals")  # for thresholds that were fixed before the runs, and for those alone


def forms(delta: float, *, fixed: bool) -> tuple[Form, ...]:
    """Candidates for a rule whose thresholds are ``fixed`` before the runs, or else taken from the runs' own scores."""
    if delta == 0:
        return (PURE,)
    return (DISCOUNTED, DISCOUNTED_EVENLY, TWO) if fixed else (DISCOUNTED, DISCOUNTED_EVENLY)


def bound(g: Guesses, alpha: float, delta: float, form: Form) -> float:
    """ε is at least this with confidence 1−α, at this δ. Rounded down."""
    return float(bounds(g.right, g.wrong, g.n, g.sides, alpha, delta, form))


def bounds(right: Any, wrong: Any, n: float, sides: int, alpha: float, delta: float, form: Form) -> np.ndarray:
    """The same for arrays of counts, which need not be whole: those that are expected of a larger game are not.

    Given its output x, call a run with coin 1 *bad* with probability 1 − min(1, e^ε p0/p1), one with coin 0 with
    1 − min(1, e^ε p1/p0). Under (ε,δ)-DP bad runs have probability δ at most, those with coin 1 alone δ/2; and of a run that is
    not bad, x tells the coin with odds of e^ε at most. So right guesses are at most Bin(n, δ·sides/2) bad ones and as many as
    Bin(r, 1/(1+e^−ε)) has of the others: with β of α for the former, the other α−β is a Clopper–Pearson bound. It holds for
    guesses that depend on all outputs, as thresholds at order statistics of the pooled scores do, while no coin is looked at.
    """
    if form == TWO:
        return _two_intervals(right, wrong, n, alpha, delta * sides / 2)
    beta = form.share * alpha if delta > 0 else 0.0
    return _clopper_pearson(np.asarray(right, float) - discount(n, sides, delta, beta), wrong, alpha - beta)


@lru_cache(4096)
def discount(n: float, sides: int, delta: float, beta: float) -> int:
    """The least k with P(Bin(n, δ·sides/2) > k) ≤ β; 0 for δ = 0."""
    if delta == 0:
        return 0
    runs, chance = math.ceil(n), min(float(np.nextafter(delta * sides / 2, 1.0)), 1.0)
    return least_count(beta * (1 - _OUTWARD), runs, chance)


def _clopper_pearson(right: Any, wrong: Any, alpha: float) -> np.ndarray:
    """log p/(1−p) for p = Beta^{-1}(α; right, wrong+1); by 1−p where that is the smaller, lest w = 0 lose its digits."""
    usable = np.asarray(right) > 0
    a, b = np.where(usable, right, _LEAST), np.asarray(wrong) + 1.0
    p, rest = betaincinv(a, b, alpha), betainccinv(b, a, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(p > 0.5, np.log1p(-rest) - np.log(rest), np.log(p) - np.log1p(-p))
    return _down(np.where(usable & (p > 0.5), odds, 0.0))


def _two_intervals(right: Any, wrong: Any, n: float, alpha: float, delta: float) -> np.ndarray:
    """P(right) ≤ e^ε P(wrong) + δ, with a Clopper–Pearson bound on each probability."""
    low = np.where(np.asarray(right) > 0, betaincinv(np.maximum(right, _LEAST), n - right + 1.0, alpha / 2), 0.0) - delta
    high = np.where(np.asarray(wrong) < n, betainccinv(wrong + 1.0, np.maximum(n - wrong, _LEAST), alpha / 2), 1.0)
    return _down(np.log(np.maximum(low, _LEAST) / high))


def _down(epsilon: np.ndarray) -> np.ndarray:
    return np.maximum(epsilon * (1 - _OUTWARD) - _OUTWARD, 0.0)
