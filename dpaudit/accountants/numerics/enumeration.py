"""E[(ΣG)_+] for up to about 20 reports with few values, over all counts: exact, and 14 times as fast as the contour.

Measured by ``python -m benchmarks engines``: .6 ms in the median of 141 questions, the contour 9 ms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import flint

from dpaudit.accountants.numerics.array_contour import AtomicLaw

_LIMIT = 7000


def can_enumerate(law: AtomicLaw) -> bool:
    """Are there few enough ways to share n reports among its values?"""
    kinds = len(_values(law))
    return kinds + law.n <= 64 and math.comb(law.n + kinds - 1, law.n) <= _LIMIT


def enumerated(law: AtomicLaw) -> tuple[Any, Any]:
    """(lower, upper): enclosures of E[(ΣG)_+]/n at the precision of the caller."""
    low, high, n = flint.arb(0), flint.arb(0), law.n
    for chance, total in _counts(_values(law), n):
        if total > 0:
            low += chance * total
            high += chance * total
        elif not total <= 0:  # too close to 0 to tell
            high += chance * total.upper()
    return low / n, high / n


def _values(law: AtomicLaw) -> list[tuple[Any, Any]]:
    return [*law.atoms, *([] if law.empty.is_zero() else [(law.empty, flint.arb(0))])]


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
