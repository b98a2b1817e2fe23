"""Exact numbers in and out of arb's ball arithmetic (python-flint), which encloses every result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with ``bits`` of precision inside the block; the caller's precision comes back after it."""
    with flint.ctx.workprec(bits):
        yield


def ball(value: Fraction | int) -> Any:
    """The smallest ball around an exact number at the current precision."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def lower(value: Any) -> Fraction:
    """The lower end of a ball, exactly. A ball that is not finite has none: ``ArithmeticError``."""
    return _exactly(value.lower())


def upper(value: Any) -> Fraction:
    """The upper end of a ball, exactly. A ball that is not finite has none: ``ArithmeticError``."""
    return _exactly(value.upper())


def _exactly(end: Any) -> Fraction:
    if not end.is_finite():
        raise ArithmeticError("the enclosure is not finite: more precision is needed")
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def decimal(value: Fraction, digits: int, *, up: bool) -> Fraction:
    """Round to ``digits`` significant digits, upward or downward."""
    if value == 0:
        return value
    size = abs(value)
    magnitude = math.floor((math.log(size.numerator) - math.log(size.denominator)) / math.log(10) + 1e-9)
    unit = Fraction(10) ** (magnitude + 1 - digits)
    return (math.ceil(value / unit) if up else math.floor(value / unit)) * unit
