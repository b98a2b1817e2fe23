"""How a figure is shown, everywhere alike: upper bounds rounded up, lower bounds down, and what was asked for as it was asked.

A figure has one text in a sentence, a table, a change and a picture, so that none seems to contradict another.
"""

from __future__ import annotations

from fractions import Fraction

from dpaudit.claims.decimals import about_at_most, at_least, at_most

__all__ = ["about_at_most", "at_least", "at_most", "decimal", "enclosure_words"]


def enclosure_words(lower: Fraction, upper: Fraction, places: int) -> str:
    """[lower, upper] in decimals of so many places, rounded outward."""
    return f"[{decimal(lower, places)}, {decimal(upper, places, up=True)}]"


def decimal(value: Fraction, places: int, *, up: bool = False) -> str:
    """A decimal of so many places, rounded down or up."""
    scaled = value * 10**places
    whole = -((-scaled) // 1) if up else scaled // 1
    text = str(abs(int(whole))).rjust(places + 1, "0")
    return f"{'-' if whole < 0 else ''}{text[:-places]}.{text[-places:]}".rstrip("0").rstrip(".")
