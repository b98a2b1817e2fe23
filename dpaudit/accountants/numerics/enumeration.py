"""E[(G_1 + … + G_n)_+] for few summands with few values, by full enumeration of how often each value occurs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import flint

_LIMIT = 7000


def can_enumerate(kinds: int, n: int) -> bool:
    """Are there few enough ways to share n reports among so many values?"""
    return kinds + n <= 64 and math.comb(n + kinds - 1, n) <= _LIMIT


def enumerated(values: list[tuple[Any, Any]], n: int) -> tuple[Any, Any]:
    """(lower, upper): enclosures of E[(ΣG)_+]/n at the precision of the caller, for G with these (weight, value)."""
    low, high = flint.arb(0), flint.arb(0)
    for chance, total in _counts(values, n):
        if total > 0:
            low += chance * total
            high += chance * total
        elif not total <= 0:  # too close to 0 to tell
            high += chance * total.upper()
    return low / n, high / n


def _counts(values: list[tuple[Any, Any]], n: int) -> Iterator[tuple[Any, Any]]:
    """The probability and the sum of every way to share n reports among the values."""
    weight, value = values[0]
    if len(values) == 1:
        yield weight**n, value * n
        return
    term = flint.arb(1)  # binomial(n, k) weight^k
    for k in range(n + 1):
        for chance, total in _counts(values[1:], n - k):
            yield term * chance, k * value + total
        term = term * weight * (n - k) / (k + 1)
