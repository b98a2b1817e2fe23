"""One release from a Poisson sample: δ(ε) in closed form, as balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import flint

from dpaudit.accountants.numerics.roots import Ends
from dpaudit.accountants.sampling.groups import Direction, SampledGaussian
from dpaudit.claims.balls import Ball, ball, lower, precision, upper

_BITS = 256


def _above(u: Ball) -> Ball:
    """P(N > u) of a standard normal N."""
    return (u / flint.arb(2).sqrt()).erfc() / 2


def one_release(group: SampledGaussian, direction: Direction, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε) of one release: P(L > ε) − e^ε Q(L > ε), the event a half-line of u.

    w(u) > a is u > u(a) = σ ln((a − 1 + q)/q) + 1/(2σ). remove: L > ε is w > e^ε. add: w < e^−ε.
    """
    with precision(_BITS):
        q, sigma, grown = ball(group.rate), ball(group.sigma), ball(epsilon).exp()
        excess = ((grown if direction == "remove" else 1 / grown) - 1 + q) / q
        if direction == "add":
            if not excess > 0:
                return Fraction(0), Fraction(0)  # w > 1 − q always
            u = -(sigma * excess.log() + 1 / (2 * sigma))
            plain, moved = _above(u), _above(u + 1 / sigma)
            value = plain - grown * ((1 - q) * plain + q * moved)
        else:
            u = sigma * excess.log() + 1 / (2 * sigma)
            plain, moved = _above(u), _above(u - 1 / sigma)
            value = (1 - q - grown) * plain + q * moved
        return _ends(value)


def _ends(value: Ball) -> tuple[Fraction, Fraction]:
    low, high = (lower(value) if value > 0 else Fraction(0)), upper(value)
    return low, min(Fraction(1), max(high, Fraction(0)))


def least_epsilon(curve: Callable[[Fraction], tuple[Fraction, Fraction]], delta: Fraction) -> Ends:
    """The least ε with δ(ε) ≤ δ for a falling curve of certified values, to about 15 digits."""
    if curve(Fraction(0))[1] <= delta:
        return Ends(Fraction(0), Fraction(0))
    low, high = 0.0, 1.0
    while curve(Fraction(high))[1] > delta:
        low, high = high, high * 2
    while high - low > 1e-15 * high and math.nextafter(low, high) < high:
        middle = (low + high) / 2
        least, most = curve(Fraction(middle))
        if most <= delta:
            high = middle
        elif least > delta:
            low = middle
        else:
            break
    return Ends(Fraction(low), Fraction(high))
