"""Numbers as text: exact, or short and rounded in the safe direction: upper bounds up, lower bounds down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_DIGITS, _PLACES = 4, 4  # of a lower bound: significant digits below 1, decimals above


def show(value: Fraction) -> str:
    """An exact number as text that ``exact`` reads back: a decimal where it is finite and short, else p/q."""
    if value.denominator == 1:
        return str(value.numerator)
    reduced, twos, fives = value.denominator, 0, 0
    while reduced % 2 == 0:
        reduced, twos = reduced // 2, twos + 1
    while reduced % 5 == 0:
        reduced, fives = reduced // 5, fives + 1
    places = max(twos, fives)
    if reduced != 1 or places > 60:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0")
    if abs(value) < Fraction(1, 10000):
        significant = digits.strip("0")
        head = significant[0] + (f".{significant[1:]}" if len(significant) > 1 else "")
        text = f"{head}e-{places - len(digits.lstrip('0')) + 1}"
    return ("-" if value < 0 else "") + text


def number(value: Fraction) -> str:
    """An exact number if it is short, else seven digits, rounded up."""
    exact = show(value)
    if len(exact) <= 12:
        return exact
    up = Context(prec=7, rounding=ROUND_CEILING)
    return f"{float(up.divide(Decimal(value.numerator), Decimal(value.denominator))):.7g}"


def short(name: str, most: int = 60) -> str:
    """A name that fits on a line."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def at_most(value: Fraction | float) -> str:
    """An upper bound, or a claim: exactly if that is short, else with seven digits, rounded up."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return number(value if isinstance(value, Fraction) else Fraction(repr(float(value))))


def about_at_most(value: float) -> str:
    """A figure that is an estimate itself: four digits, rounded up."""
    if not math.isfinite(value):
        return str(value)
    return at_most(Fraction(Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(repr(float(value))))))


def at_least(value: float, beyond: Fraction | None = None) -> str:
    """A lower bound with four decimals, or four digits below 0.1, rounded down.

    ``beyond``: a claim that it may refute; then as many more digits as it takes to be seen above it.
    """
    if not math.isfinite(value):
        return str(value)
    exact = Decimal(repr(float(value)))
    before = max(exact.adjusted() + 1, 0) if exact else 0
    shown = "0"
    for more in range(18):
        digits = before + _PLACES if exact.adjusted() >= -1 else _DIGITS
        rounded = Context(prec=max(digits + more, 1), rounding=ROUND_FLOOR).create_decimal(exact)
        shown = _as_text(rounded)
        if beyond is None or Fraction(rounded) > beyond or Fraction(exact) <= beyond:
            break
    return shown


def _as_text(value: Decimal) -> str:
    """Without zeros at the end; powers of ten only where a number is very long."""
    if value and not -5 <= value.adjusted() < 15:
        digits, _, power = f"{value.normalize():e}".partition("e")
        return f"{digits}e{int(power):+03d}"
    return f"{value.normalize():f}" if value else "0"
