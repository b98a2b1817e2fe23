"""The quantile of the standard normal law as a ball: floats find it, the signs of Φ on both sides prove it."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import flint

from dpaudit.claims.balls import Ball, ball

_CLOSE = Fraction(1, 10**12)
_LEAST = 1e-300


def above(u: Ball) -> Ball:
    """P(N > u) of a standard normal N."""
    return (u / flint.arb(2).sqrt()).erfc() / 2


def normal_quantile(share: Ball) -> Ball:
    """Φ^{-1} of a ball inside (0, 1), to about 12 digits."""
    if float(share.mid()) > 0.5:
        return -normal_quantile(1 - share)
    at = _lower_quantile(float(share.mid()))
    margin = _CLOSE * (1 + abs(at))
    for _ in range(60):
        left, right = ball(-(at - margin)), ball(-(at + margin))
        if above(left) < share < above(right):
            return (-left).union(-right)
        margin *= 4
    raise ArithmeticError("no quantile was found")


def _lower_quantile(share: float) -> Fraction:
    """In floats, for shares down to 1e-300."""
    share = max(share, _LEAST)
    if share > 1e-12:
        return Fraction(NormalDist().inv_cdf(share))
    at = -math.sqrt(-2 * math.log(share))
    for _ in range(60):  # Newton's method on log Φ
        tail = math.erfc(-at / math.sqrt(2)) / 2
        at -= (math.log(tail) - math.log(share)) * tail / (math.exp(-at * at / 2) / math.sqrt(2 * math.pi))
    return Fraction(at)
