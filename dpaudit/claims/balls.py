"""Exact numbers in and out of arb's ball arithmetic (python-flint), which encloses every result."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint

Ball = Any  # flint.arb has no stubs

_LARGEST_EXPONENT = 1 << 20


_lock = threading.RLock()


def _unlock_in_child() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_unlock_in_child)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls are computed with ``bits`` bits inside the block. flint's precision is global, hence the lock."""
    with _lock, flint.ctx.workprec(bits):
        yield


def ball(value: Fraction | int) -> Ball:
    """The smallest ball around an exact number at the current precision."""
    return flint.arb(flint.fmpq(int(value.numerator), int(value.denominator)))


def lower(value: Any) -> Fraction:
    """A short fraction not above a ball. A ball that is not finite has none: ``ArithmeticError``."""
    return _exactly(value.lower(), up=False)


def upper(value: Any) -> Fraction:
    """A short fraction not below a ball. A ball that is not finite has none: ``ArithmeticError``."""
    return _exactly(value.upper(), up=True)


def _exactly(end: Any, *, up: bool) -> Fraction:
    if not end.is_finite():
        raise ArithmeticError("the enclosure is not finite: more precision is needed")
    mantissa, exponent = (int(part) for part in end.man_exp())
    if abs(exponent) + mantissa.bit_length() < _LARGEST_EXPONENT:
        return Fraction(mantissa) * Fraction(2) ** exponent
    if exponent > 0:
        raise ArithmeticError("the enclosure is too large to be written down")
    tiny = Fraction(1, 2 ** (_LARGEST_EXPONENT // 2))  # outward, instead of a fraction with millions of digits
    return (tiny if up else Fraction(0)) if mantissa >= 0 else (Fraction(0) if up else -tiny)


def decimal(value: Fraction, digits: int, *, up: bool) -> Fraction:
    """Round to ``digits`` significant digits, upward or downward."""
    if value == 0:
        return value
    size = abs(value)
    magnitude = math.floor((math.log(size.numerator) - math.log(size.denominator)) / math.log(10) + 1e-9)
    unit = Fraction(10) ** (magnitude + 1 - digits)
    return (math.ceil(value / unit) if up else math.floor(value / unit)) * unit
