"""Exact numbers: read from what people write, written so that they read back, rounded only in the safe direction."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from dpaudit.claims.errors import InvalidValue

Number = int | float | str | Fraction

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\Z", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+\Z", re.ASCII)
_LONGEST = 4096  # bits of a numerator or denominator
_LARGEST_EPSILON = 10**300


def exact(value: Number, name: str = "value") -> Fraction:
    """Read a number exactly: ``Fraction``, int, "0.1", "1/2", "1e-6"; a float by its shortest decimal."""
    if type(value) is Fraction:
        return _refuse_long(value, name)
    if isinstance(value, bool | bytes) or type(value).__name__ in ("bool", "bool_"):  # the latter are numpy's
        raise InvalidValue(name, value, "a number")
    if isinstance(value, int | Fraction):
        return _refuse_long(Fraction(value), name)
    if isinstance(value, str):
        text = value.strip()
        if len(text) <= 4096 and (_DECIMAL.match(text) or _RATIO.match(text)):
            try:
                return _refuse_long(Fraction(text), name)
            except ZeroDivisionError:
                pass
        raise InvalidValue(name, value, 'a decimal or a fraction such as "0.1", "1e-6" or "1/2"')
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidValue(name, value, "a number") from None
    if not math.isfinite(number):
        raise InvalidValue(name, value, "a finite number")
    return Fraction(repr(number))


def _refuse_long(number: Fraction, name: str) -> Fraction:
    """Sums and products of accepted numbers stay short enough to be written down."""
    if number.numerator.bit_length() > _LONGEST or number.denominator.bit_length() > _LONGEST:
        raise InvalidValue(name, "a number of more than 1,200 digits", "shorter")
    return number


def exact_epsilon(value: Number, name: str = "epsilon") -> Fraction:
    """A privacy parameter ε: finite and not negative."""
    epsilon = exact(value, name)
    if not 0 <= epsilon.numerator <= _LARGEST_EPSILON * epsilon.denominator:
        raise InvalidValue(name, value, "zero or more, and at most 1e300")
    return epsilon


def exact_delta(value: Number, name: str = "delta") -> Fraction:
    """A privacy parameter δ: at least 0 and below 1."""
    delta = exact(value, name)
    if not 0 <= delta.numerator < delta.denominator:
        raise InvalidValue(name, value, "at least 0 and below 1")
    return delta


def positive(value: Number, name: str) -> Fraction:
    """An exact number above zero."""
    number = exact(value, name)
    if number.numerator <= 0:
        raise InvalidValue(name, value, "greater than 0")
    return number


def whole(value: object, name: str, least: int = 1, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``; accepts ints and texts such as "10000" or "1e6"."""
    if type(value) is int and least <= value and most is None and value.bit_length() <= _LONGEST:
        return value
    try:
        number = exact(value, name) if isinstance(value, str | int | float | Fraction) else None
    except InvalidValue:
        number = None
    if number is None or number.denominator != 1 or number < least:
        raise InvalidValue(name, value, f"a whole number of at least {least}")
    if most is not None and number > most:
        raise InvalidValue(name, value, f"at most {most:,}")
    return int(number)


def float_down(value: Fraction) -> float:
    """The largest float that is not above ``value``: the safe direction for a lower bound."""
    number = float(value)
    return number if Fraction(number) <= value else math.nextafter(number, -math.inf)


def float_up(value: Fraction) -> float:
    """The smallest float that is not below ``value``: the safe direction for an upper bound."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


_LONG, _SHORT = 4096, 2048  # bits


def shorten_up(value: Fraction) -> Fraction:
    """The number itself, or one above it by less than 2^-2048 where its denominator is longer than 4096 bits.

    Sums of thousands of fractions that have nothing in common grow without limit otherwise.
    """
    if value.denominator.bit_length() <= _LONG:
        return value
    return Fraction(-((-value.numerator << _SHORT) // value.denominator), 1 << _SHORT)


def sum_up(terms: Iterable[Fraction]) -> Fraction:
    """Their sum, exact while its denominator is at most 4096 bits long, else above it by a hair."""
    return reduce(lambda total, term: shorten_up(total + term), terms, Fraction(0))
