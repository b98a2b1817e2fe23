"""How a figure is shown, everywhere alike: upper bounds rounded up, lower bounds down, and what was asked for as it was asked.

A figure has one text in a sentence, a table, a change and a picture, so that none seems to contradict another.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dpaudit.claims.decimals import number

_DIGITS, _PLACES = 4, 4  # of a lower bound: significant digits below 1, decimals above


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
        shown = _written(rounded)
        if beyond is None or Fraction(rounded) > beyond or Fraction(exact) <= beyond:
            break
    return shown


def _written(value: Decimal) -> str:
    """Without zeros at the end; powers of ten only where a number is very long."""
    if value and not -5 <= value.adjusted() < 15:
        digits, _, power = f"{value.normalize():e}".partition("e")
        return f"{digits}e{int(power):+03d}"
    return f"{value.normalize():f}" if value else "0"


def enclosure_words(lower: Fraction, upper: Fraction, places: int) -> str:
    """[lower, upper] in decimals of so many places, rounded outward."""
    return f"[{decimal(lower, places)}, {decimal(upper, places, up=True)}]"


def decimal(value: Fraction, places: int, *, up: bool = False) -> str:
    """A decimal of so many places, rounded down or up."""
    scaled = value * 10**places
    whole = -((-scaled) // 1) if up else scaled // 1
    text = str(abs(int(whole))).rjust(places + 1, "0")
    return f"{'-' if whole < 0 else ''}{text[:-places]}.{text[-places:]}".rstrip("0").rstrip(".")
