"""Certified numbers for the noise: arb balls in, fractions rounded outward out."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
from flint import arb

from dpaudit.claims.balls import Ball, ball, precision

__all__ = ["LEAST", "Ball", "approximate", "ball", "enclose", "ends", "precision"]

# Below this a number is given as "between 0 and LEAST": its exact fraction could fill the memory.
_LEAST_EXPONENT = -4096
LEAST = Fraction(1, 2**-_LEAST_EXPONENT)


def _fraction(point: Ball) -> Fraction:
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def ends(value: Ball) -> tuple[Fraction, Fraction]:
    """The ends of a ball that is known to hold a number ≥ 0; never inside the ball, never below 0."""
    least = arb(2) ** _LEAST_EXPONENT
    upper = LEAST if value < least else _fraction(value.upper())
    lower = _fraction(value.lower()) if value > least else Fraction(0)
    return lower, upper


def approximate(compute: Callable[[], Ball], digits: int) -> Any:
    """The middle of a ball as an mpmath number; ``compute`` runs with ``digits`` digits and 100 bits more."""
    with precision(int(digits * 3.33) + 100):
        mantissa, exponent = compute().mid().man_exp()
    return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(int(mantissa), int(exponent)))


def enclose(compute: Callable[[], Ball], digits: int) -> tuple[Fraction, Fraction]:
    """Ends of a positive number to ``digits`` relative digits, or (0, 2^-4096) when it is below that.

    ``compute`` is called with growing precision and must return balls that shrink to the number.
    """
    wanted = int(digits * 3.33) + 2
    bits = 2 * wanted + 64
    while True:
        with precision(bits):
            value = compute()
            if value.rel_accuracy_bits() >= wanted or value < arb(2) ** _LEAST_EXPONENT:
                return ends(value)
        bits *= 2
