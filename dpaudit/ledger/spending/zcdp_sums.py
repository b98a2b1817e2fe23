"""A filter that adds up ρ instead of ε: for Gaussian releases, and for many small ones.

Whitehouse, Ramdas, Rogers, Wu 2023 (Fully-Adaptive Composition in Differential Privacy), Thm 1: releases whose ρ and δ are chosen
adaptively, each given what was released before, and stopped before Σρ exceeds ρ* and Σδ exceeds δ*, are δ*-approximate ρ*-zCDP
together; no release need be fixed in advance. That is (ε, δ + δ*)-DP for any δ by the conversion below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import InvalidValue, exact, positive, show, whole
from dpaudit.claims.balls import Ball, ball, decimal, precision, upper
from dpaudit.ledger.spending.budget import Charge, Spend
from dpaudit.ledger.spending.pure_sums import ConvertedSums

_BITS = 160
RANGES = ("exponential",)  # mechanisms of ε-bounded range, as charges name them
Floats = NDArray[np.float64]


class ZcdpSums(ConvertedSums):
    """Σρ and Σδ per record, parallel over disjoint cohorts; Σρ is converted to ε at the ``delta`` that stands in its name.

    Gaussian noise is Δ²/(2σ²)-zCDP (Canonne, Kamath, Steinke 2020, Thm 14, discrete, any dimension); what is (ε, δ)-DP is
    δ-approximate ε²/2-zCDP (Bun, Steinke 2016, Prop. 1.4), and ε-bounded range is ε²/8-zCDP (Cesar, Rogers 2021, Lemma 3.2).
    """

    def __init__(self, delta: Fraction) -> None:
        self.delta = positive(delta, "delta of the zcdp filter")
        self.name = f"zcdp({show(self.delta)})"
        super().__init__()

    def _read(self, charge: Charge) -> Charge:
        return as_rho(charge)

    def _converted(self, spend: Spend) -> Spend:
        rho, delta = spend
        if not rho:
            return Fraction(0), delta
        return zcdp_epsilon(rho, self.delta), delta + self.delta


def as_rho(charge: Charge) -> Charge:
    """The same charge with ρ in the place of ε. Raises InvalidValue for one of which neither is known."""
    rho, delta = charge_rho(charge)
    return replace(charge, epsilon=rho, delta=delta)


def charge_rho(charge: Charge) -> tuple[Fraction, Fraction]:
    """(ρ, δ) of a charge: the charge is δ-approximate ρ-zCDP."""
    if "sigma" in charge.facts:  # a deviation: noise that is accounted for by its ρ
        return gaussian_rho(charge), Fraction(0)
    if "rho" in charge.facts:  # a stated one
        return stated_rho(charge), Fraction(0)
    if charge.epsilon is None:
        raise InvalidValue("epsilon", None, "known for every charge that is not of Gaussian noise")
    times, one = equal_releases(charge)
    ranged = charge.facts.get("mechanism") in RANGES and "sampling" not in charge.facts and not charge.delta
    return times * one**2 / (8 if ranged else 2), charge.delta


def equal_releases(charge: Charge) -> tuple[int, Fraction]:
    """How many equal releases a charge without δ is for, and the ε of one of them; else one of all its ε."""
    epsilon, facts = charge.epsilon or Fraction(0), charge.facts
    if charge.delta or "sampling" in facts or "count" not in facts:
        return 1, epsilon
    times = whole(facts["count"], "count")
    return times, epsilon / times


def stated_rho(charge: Charge) -> Fraction:
    """Σρ of as many releases as the charge is for."""
    return whole(charge.facts.get("count", 1), "count") * positive(charge.facts["rho"], "rho")


def gaussian_rho(charge: Charge) -> Fraction:
    """ρ of a Gaussian charge from its facts; the move is in whole steps of the grid where they are known."""
    try:
        facts = charge.facts
        moved, sigma = exact(facts["sensitivity"], "sensitivity"), positive(facts["sigma"], "sigma")
        if "grid" in facts:
            grid = positive(facts["grid"], "grid")
            steps = max(math.ceil(moved / grid), whole(facts.get("steps", 0), "steps", least=0))
            moved = steps * grid
        times = whole(facts.get("count", 1), "count", least=1)  # a sample of the records does not cost more than all of them
    except KeyError:
        raise InvalidValue("facts", "incomplete", "sigma and sensitivity of a Gaussian charge") from None
    return times * moved**2 / (2 * sigma**2)


@lru_cache(maxsize=4096)
def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The least ε, rounded up, at which ρ-zCDP gives (ε, δ)-DP."""
    order = best_order(lambda a: float(rho) * a, delta)
    with precision(_BITS):
        return from_renyi(ball(rho * order), order, delta)


@lru_cache(maxsize=4096)
def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """δ(ε) of ρ-zCDP, rounded up: min over α of e^{(α−1)(αρ−ε)}/(α−1)·(1−1/α)^α (Canonne et al. 2020, Cor. 13)."""
    if not rho:
        return Fraction(0)
    r, e = float(rho), float(epsilon)
    order = _least(lambda a: (a - 1) * (a * r - e) + a * np.log1p(-1 / a) - np.log(a - 1))
    with precision(_BITS):
        a = ball(order)
        delta = ((a - 1) * (a * ball(rho) - ball(epsilon)) + a * (1 - 1 / a).log()).exp() / (a - 1)
        return min(Fraction(1), decimal(upper(delta), 15, up=True))


def best_order(divergence: Callable[[Floats], Floats], delta: Fraction) -> Fraction:
    """The order at which the conversion is best, in floats: any order gives a valid bound."""
    size = math.log(delta.denominator) - math.log(delta.numerator)
    return _least(lambda a: divergence(a) + np.log1p(-1 / a) + (size - np.log(a)) / (a - 1))


def _least(function: Callable[[Floats], Floats]) -> Fraction:
    """Where a function of the order α > 1 is least, by refining a grid of log(α−1)."""
    low, high = -12.0, 40.0
    for _ in range(4):
        grid = np.linspace(low, high, 129)
        place = int(np.argmin(function(1 + 2.0**grid)))
        low, high = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, 128)])
    return 1 + Fraction(2.0 ** float(grid[place]))


def from_renyi(divergence: Ball, order: Fraction, delta: Fraction) -> Fraction:
    """ε ≥ 0 at δ of what has this Rényi divergence D at order α, rounded up.

    ε = D + log(1 − 1/α) − (log δ + log α)/(α−1): Canonne, Kamath, Steinke 2020, Prop. 12; Balle et al. 2020, Thm 21.
    """
    a = ball(order)
    epsilon = divergence + (1 - 1 / a).log() - (ball(delta).log() + a.log()) / (a - 1)
    return Fraction(0) if epsilon < 0 else decimal(upper(epsilon), 15, up=True)
