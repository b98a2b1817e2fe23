"""How well any test can tell two neighbours apart: the largest true positive rate at a false positive rate.

A release that is (ε, δ)-DP lets no test of size α be right with a probability above e^ε α + δ, nor above 1 − e^{−ε}(1 − δ − α)
(Wasserman & Zhou 2010; Kairouz, Oh, Viswanath 2015). The least of these over many points of a proven δ(ε) is proven too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.curves.least_delta import least_delta
from dpaudit.accountants.interface import Group
from dpaudit.accountants.least_epsilon import least
from dpaudit.claims import InvalidValue, show
from dpaudit.claims.balls import ball, decimal, precision, upper

RATES = tuple(Fraction(text) for text in ("1e-5", "1e-4", "1e-3", "0.01", "0.05", "0.1", "0.25", "0.5", "0.75"))
_POINTS = 24
_RARE = Fraction(1, 10**7)  # δ at which the curve ends: far below the least false positive rate
_DIGITS = 8
_BITS = 128


@dataclass(frozen=True)
class HitRate:
    """No test with false positive rate ``false`` has a true positive rate above ``true``."""

    false: Fraction
    true: Fraction

    def to_dict(self) -> dict[str, str]:
        return {"false_positive_rate": show(self.false), "true_positive_rate": show(self.true)}


def trade_off(groups: Sequence[Group], delta: Fraction, *, fixed: bool, rates: Iterable[Fraction] = RATES) -> list[HitRate]:
    """The proven hit rates, for the record that pays most. ``delta``: where the curve ends if rarer failures have no ε."""
    curve = _curve(groups, delta, fixed)
    return [HitRate(rate, _hit(curve, rate)) for rate in rates]


def _curve(groups: Sequence[Group], delta: Fraction, fixed: bool) -> list[tuple[Fraction, Fraction]]:
    """Points (ε, δ(ε)) up to where δ is rare, closer together at small ε."""
    ends = []
    for failure in sorted({_RARE, delta, 10 * delta}):
        with suppress(InvalidValue):
            ends.append(least(groups, failure, fixed=fixed))
            break
    if not ends:
        return []
    most = ends[0].epsilon
    levels = sorted({decimal(most * Fraction(k, _POINTS) ** 2, 9, up=True) for k in range(_POINTS + 1)})
    return [*((level, least_delta(groups, level, fixed=fixed)) for level in levels), (most, ends[0].delta)]


def _hit(curve: Sequence[tuple[Fraction, Fraction]], rate: Fraction) -> Fraction:
    best = Fraction(1)
    with precision(_BITS):
        for epsilon, delta in curve:
            first = upper(ball(epsilon).exp() * ball(rate)) + delta
            second = upper(1 - ball(-epsilon).exp() * ball(max(1 - delta - rate, Fraction(0))))
            best = min(best, first, second)
    return min(Fraction(1), decimal(best, _DIGITS, up=True))
