"""Where a function's values lie, as numpy computes them, when its arguments lie in given ranges.

Arithmetic, roots, rounding and comparisons are rounded correctly, so that what is monotone stays monotone and the values at
the ends enclose all others. Other functions are off by a few units in the last place: their ends are widened.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from dpaudit.sealed.trace import Range

ULPS = 16.0  # numpy's float64 functions err by at most 4 units in the last place
HUGE = float(np.finfo(float).max)
ZERO, ONE = np.array(0.0), np.array(1.0)

Enclose = Callable[[Range], Range]


def _widened(low: np.ndarray, high: np.ndarray, least: float, most: float) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        error = [np.where(np.isfinite(end), np.abs(end) * ULPS * 2.0**-52 + 2.0**-1060, 0.0) for end in (low, high)]
    return np.maximum(low - error[0], least), np.minimum(high + error[1], most)


def increasing(
    function: np.ufunc, *, exact: bool = False, domain: float = -np.inf, least: float = -np.inf, most: float = np.inf
) -> Enclose:
    """An increasing function that is NaN below ``domain``; its values lie in [least, most]."""

    def enclose(limits: Range) -> Range:
        low, high, nan = limits
        ends = np.asarray(function(np.maximum(low, domain))), np.asarray(function(np.maximum(high, domain)))
        below = nan or bool((low < domain).any())
        return (*(ends if exact else _widened(*ends, least, most)), below)

    return enclose


def even(function: np.ufunc, *, exact: bool = False) -> Enclose:
    """A function that falls up to 0, rises from 0 and has its least value there."""

    def enclose(limits: Range) -> Range:
        low, high, nan = limits
        ends = np.asarray(function(low)), np.asarray(function(high))
        bottom = np.where((low <= 0) & (high >= 0), function(0.0), np.minimum(*ends))
        top = np.maximum(*ends)
        return (bottom, top, nan) if exact else (*_widened(bottom, top, 0.0, np.inf), nan)

    return enclose


def between(least: float, most: float) -> Enclose:
    """A function of finite numbers of which no more is known than where its values lie."""

    def enclose(limits: Range) -> Range:
        low, high, nan = limits
        return np.array(least), np.array(most), nan or not (np.isfinite(low).all() and np.isfinite(high).all())

    return enclose


# Every function here is NaN for NaN.
FUNCTIONS: dict[np.ufunc, Enclose] = {
    **{f: increasing(f, exact=True) for f in (np.floor, np.ceil, np.trunc, np.rint, np.sign, np.positive)},
    **{f: increasing(f) for f in (np.expm1, np.sinh, np.arctan, np.arcsinh, np.cbrt, np.deg2rad, np.rad2deg)},
    **{f: increasing(f, domain=0.0) for f in (np.log, np.log2, np.log10)},
    np.sqrt: increasing(np.sqrt, exact=True, domain=0.0),
    np.log1p: increasing(np.log1p, domain=-1.0),
    np.exp: increasing(np.exp, least=0.0),
    np.exp2: increasing(np.exp2, least=0.0),
    np.tanh: increasing(np.tanh, least=-1.0, most=1.0),
    expit: increasing(expit, least=0.0, most=1.0),
    np.absolute: even(np.absolute, exact=True),
    np.fabs: even(np.fabs, exact=True),
    np.square: even(np.square, exact=True),
    np.cosh: even(np.cosh),
    np.sin: between(-1.0, 1.0),
    np.cos: between(-1.0, 1.0),
}
STEPS = frozenset({np.floor, np.ceil, np.trunc, np.rint, np.sign})  # they jump, and give whole numbers
CONTRACTIONS = frozenset({np.absolute, np.fabs, np.positive, np.negative, np.tanh, np.sin, np.cos, np.arctan, np.arcsinh})
# They move by no more than their argument: |f(a) − f(b)| ≤ |a − b|.


def corners(function: np.ufunc, a: Range, b: Range) -> Range | None:
    """A function of two numbers that is monotone in each, as +, −, ×, ÷, min and max are: its ends are at corners.

    None where a divisor may be 0, or a number infinite.
    """
    if function is np.true_divide and bool(((b[0] <= 0) & (b[1] >= 0)).any()):
        return None
    if function not in (np.minimum, np.maximum) and not all(np.isfinite(end).all() for end in (*a[:2], *b[:2])):
        return None
    with np.errstate(all="ignore"):
        values = [np.asarray(function(x, y)) for x in a[:2] for y in b[:2]]
    return np.minimum.reduce(np.broadcast_arrays(*values)), np.maximum.reduce(np.broadcast_arrays(*values)), a[2] or b[2]


def power(base: Range, exponent: np.ndarray) -> Range | None:
    """base ** exponent for a public exponent; None for roots of negative numbers and negative powers of what may be 0."""
    low, high, nan = base
    whole = bool((np.floor(exponent) == exponent).all())
    if not np.isfinite(exponent).all() or not (whole or (low >= 0).all()):
        return None
    if (exponent < 0).any() and bool(((low <= 0) & (high >= 0)).any()):
        return None
    with np.errstate(all="ignore"):
        ends = np.power(low, exponent), np.power(high, exponent)
        inside = (low <= 0) & (high >= 0)
        middle = np.where(inside, np.power(0.0, np.abs(exponent)), ends[0])  # on either side of 0 a power is monotone
    bottom, top = np.minimum(np.minimum(*ends), middle), np.maximum(np.maximum(*ends), middle)
    return (*_widened(bottom, top, -np.inf, np.inf), nan or bool(np.isinf(low).any() or np.isinf(high).any()))


def hull(a: Range, b: Range) -> Range:
    """Everything in either."""
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1]), a[2] or b[2]


def cut(given: Range, low: float | np.ndarray, high: float | np.ndarray, *, nan: bool) -> Range:
    """The part of a range that lies in [low, high]; where there is none, one of its ends, which no value attains."""
    return np.clip(given[0], low, high), np.clip(given[1], low, high), nan and given[2]
