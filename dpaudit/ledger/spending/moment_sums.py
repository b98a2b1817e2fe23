"""Two filters for parameters that depend on what was released: moments at one order fixed in advance, or μ² of Gaussian noise.

At ONE order c that is fixed when the budget is set, stop before ΣK_j(c) exceeds B: then ε = (B + κ(c) − ln δ)/c, however the
releases were chosen (Feldman & Zrnic 2021, Thm 3.1). Of Gaussian noise alone, stop before Σμ_j² exceeds μ²: then all is
μ-Gaussian DP (Koskela, Tobaben, Honkela 2022). Another order afterwards, or the better of several, promises nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import flint

from dpaudit.claims import InvalidValue, positive, show, whole
from dpaudit.claims.balls import Ball, ball, decimal, precision
from dpaudit.ledger.spending.budget import Charge, Spend
from dpaudit.ledger.spending.charge_moments import charge_moment
from dpaudit.ledger.spending.pure_sums import ConvertedSums
from dpaudit.ledger.spending.zcdp_sums import from_renyi

_BITS = 192
_ASIDE = Fraction(1, 10**6)
_LARGEST = 2**20  # of ε that a search looks at


class MomentSums(ConvertedSums):
    """ΣK(c) and Σδ per record at one Rényi order α = c + 1, parallel over disjoint cohorts; converted at ``delta``."""

    def __init__(self, order: Fraction, delta: Fraction) -> None:
        self.order, self.delta = order, positive(delta, "delta of the renyi filter")
        if not 1 < order <= 10**6:
            raise InvalidValue("order", show(order), "above 1 and at most 10^6")
        self.name = f"renyi({show(order)},{show(self.delta)})"
        super().__init__()

    def _read(self, charge: Charge) -> Charge:
        moment, missed = charge_moment(charge, self.order - 1)
        return replace(charge, epsilon=moment, delta=missed)

    def _converted(self, spend: Spend) -> Spend:
        moment, missed = spend
        return (moment_epsilon(moment, self.order, self.delta), missed + self.delta) if moment else (Fraction(0), missed)


class GaussianSums(ConvertedSums):
    """Σμ² per record, of Gaussian noise alone; converted at ``delta`` by the exact curve of one Gaussian release."""

    def __init__(self, delta: Fraction) -> None:
        self.delta = positive(delta, "delta of the gaussian filter")
        self.name = f"gaussian({show(self.delta)})"
        super().__init__()

    def _read(self, charge: Charge) -> Charge:
        squared, missed = mu_squared(charge, self.delta)
        return replace(charge, epsilon=squared, delta=missed)

    def _converted(self, spend: Spend) -> Spend:
        """A millionth of δ is set aside for what the comparison with continuous noise leaves out."""
        squared, missed = spend
        if not squared:
            return Fraction(0), missed
        aside = self.delta * _ASIDE
        return gaussian_epsilon(squared, self.delta - aside), max(self.delta, self.delta - aside + missed)


@lru_cache(maxsize=4096)
def moment_epsilon(moment: Fraction, order: Fraction, delta: Fraction) -> Fraction:
    """ε = (K + κ(c) − ln δ)/c at c = order − 1, rounded up."""
    with precision(_BITS):
        return from_renyi(ball(moment / (order - 1)), order, delta)


def mu_squared(charge: Charge, delta: Fraction) -> Spend:
    """(μ², δ') of a Gaussian charge: on a grid it is a post-processing of N(0, s² − v), but for probability 5d·2^{−28v}."""
    facts = charge.facts
    if "sigma" not in facts or "sensitivity" not in facts or "sampling" in facts:
        raise InvalidValue("noise", facts.get("mechanism", "none"), "Gaussian, on all records, under a budget of μ²")
    grid, sigma = positive(facts.get("grid", "1/1048576"), "grid"), positive(facts["sigma"], "sigma")
    moved = positive(facts["sensitivity"], "sensitivity") if Fraction(facts["sensitivity"]) else Fraction(0)
    steps = max(math.ceil(moved / grid), whole(facts.get("steps", 0), "steps", least=0))
    if not steps:
        return Fraction(0), Fraction(0)
    times = whole(facts.get("count", 1), "count")  # the sums of a stream that one record is in
    size = 5 * whole(facts.get("coordinates", 1), "coordinates") * times
    v = math.ceil((math.log2(delta.denominator) - math.log2(delta.numerator) + 80 + size.bit_length()) / 28)
    variance = (sigma / grid) ** 2
    if variance <= 4 * v:
        raise InvalidValue("sigma", facts["sigma"], "several steps of its grid, under a budget of μ²")
    return times * steps**2 / (variance - v), size * Fraction(1, 2 ** (28 * v))


@lru_cache(maxsize=4096)
def gaussian_epsilon(squared: Fraction, delta: Fraction) -> Fraction:
    """The least ε, rounded up, at which μ-Gaussian DP gives (ε, δ)-DP (Dong, Roth, Su 2022, Cor. 1)."""
    low, high = Fraction(0), Fraction(1)
    while _exceeds(squared, high, delta):
        low, high = high, 2 * high
        if high > _LARGEST:
            raise InvalidValue("delta", show(delta), "larger for this noise")
    if not _exceeds(squared, low, delta):
        return Fraction(0)
    while high - low > high / 2**40:
        middle = (low + high) / 2
        low, high = (middle, high) if _exceeds(squared, middle, delta) else (low, middle)
    return decimal(high, 15, up=True)


def _exceeds(squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Is δ(ε) possibly above δ?"""
    with precision(_BITS):
        return not curve(squared, epsilon) <= ball(delta)


def curve(squared: Fraction, epsilon: Fraction) -> Ball:
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Thm 8), at the caller's precision."""
    mu, root, at = ball(squared).sqrt(), flint.arb(2).sqrt(), ball(epsilon)
    return (((at / mu - mu / 2) / root).erfc() - at.exp() * ((at / mu + mu / 2) / root).erfc()) / 2


def default_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The whole order at which the budget allows the largest ρ: c ε − κ(c) + ln δ over c(c + 1). In floats; any order holds."""
    size, best = math.log(delta.numerator) - math.log(delta.denominator), (-math.inf, 2)
    for alpha in [*range(2, 65), *(2**k for k in range(7, 20))]:
        c = alpha - 1
        room = c * float(epsilon) - c * math.log(c) + alpha * math.log(alpha) + size
        best = max(best, (room / (c * alpha), alpha))
    return Fraction(best[1])
