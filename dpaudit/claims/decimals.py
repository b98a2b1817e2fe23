"""Exact numbers as text: whole, or short and rounded up."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction


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
