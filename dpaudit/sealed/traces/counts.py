"""Counts and sums by group, of which one record moves a few; and extremes, which it moves within a range.

Each operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.sealed.callers import caller
from dpaudit.sealed.dependence import distinct
from dpaudit.sealed.joint_bounds import Joint, Shares
from dpaudit.sealed.trace import ANYONE, NOBODY, Elements, Precision, Private, Spread, fits, gap
from dpaudit.sealed.traces.conditions import compared
from dpaudit.sealed.traces.functions import Operand, exact_kind, numbers_for, operand, public, shared_records
from dpaudit.sealed.traces.sums import many_terms, total

_MANY = 2.0**31  # no count is larger


def count_nonzero(a: Any, axis: Any = None, **more: Any) -> Private | None:
    """np.count_nonzero: the sum of an indicator."""
    nonzero = compared(np.not_equal)(a, 0)
    return None if more or nonzero is None else total(nonzero, axis)


def sum_of_numbers(a: Any, axis: Any = None, **more: Any) -> Private | None:
    """np.nansum: NaN counts as 0."""
    numbers = None if more else numbers_for(a)
    return None if numbers is None or not _bounded(operand(a)) else total(numbers, axis)


def _bounded(source: Operand | None) -> bool:
    return source is not None and bool(np.isfinite(source.trace.low).all() and np.isfinite(source.trace.high).all())


def bincount(labels: Any, weights: Any = None, minlength: Any = 0) -> Private | None:
    """np.bincount: sums of private weights by public labels, or counts of private labels that are all below ``minlength``."""
    if isinstance(minlength, Private):
        return None
    if isinstance(labels, Private):
        source = operand(labels)
        if source is None or source.value.dtype != np.int64:
            return None
        if source.trace.low.min() >= 0 and source.trace.high.max() >= minlength:  # its length would tell
            least = int(source.trace.high.max()) + 1
            raise Leak("how many counts there are", caller(), f"np.bincount(x, minlength={least}) has as many for any data")
        if source.trace.low.min() < 0:
            return None
        if weights is not None:
            return _sums(source, operand(weights), int(minlength))
        return _counts(source, np.bincount(labels.value, minlength=minlength))
    source = operand(weights)
    if source is None or source.public or source.removal or source.value.ndim != 1 or not source.trace.finite:
        return None
    ids, groups = np.broadcast_to(source.trace.ids, source.value.shape), np.asarray(labels)
    value = np.bincount(groups, source.value, minlength)
    if not distinct(ids):
        return None
    moves = np.zeros(len(value))
    np.maximum.at(moves, groups, source.trace.width)
    size, terms = source.trace.size * max(len(ids), 1), max(len(ids), 1)
    return Private(
        value, Spread(ids, moves[np.newaxis], 1), Precision(source.bits, size).combine(source.bits, size, terms), False
    )


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """np.histogram with public edges: (counts, edges)."""
    source = operand(a)
    if source is None or density or weights is not None or not source.trace.finite or isinstance(bins, Private | str):
        return None
    edges = public(bins)
    if edges is None:
        return None
    if edges.ndim == 0 and range is None:  # numpy takes the least and the greatest value
        return None
    value, edges = np.histogram(source.value, *((edges,) if edges.ndim else (int(edges), range)))
    counts = _counts(source, value)
    return None if counts is None else (counts, edges)


def _counts(source: Operand | None, value: np.ndarray) -> Private | None:
    """One count per group: a record that changes leaves one and joins another; one that is removed leaves one."""
    if source is None or source.public or not source.stable:
        return None
    precision, moves = Precision(0, _MANY), np.ones((1, len(value)))
    if source.removal:
        one_each = source.value.ndim == 1
        return Private(value, Spread(np.array([ANYONE]), moves, 1), precision, source.removal) if one_each else None
    ids = np.broadcast_to(source.trace.ids, source.value.shape).ravel()
    return Private(value, Spread(ids, moves, 2), precision, False) if distinct(ids) else None


def _sums(labels: Operand, weights: Operand | None, length: int) -> Private | None:
    """Sums of weights by private labels of the same records.

    A record adds its weight, at most m in magnitude, to one of the sums. Replaced, it moves two of them by m each at most, or one
    by the range of weights: by 2m in L1 in any case. Removed, it moves one by m.
    """
    if weights is None or weights.value.shape != labels.value.shape or labels.value.ndim != 1 or not weights.trace.finite:
        return None
    shared = shared_records([labels, weights])
    if shared is None or not labels.stable or (labels.removal and not weights.stable):
        return None
    value = np.bincount(labels.value, weights=weights.value, minlength=length)
    ids = np.broadcast_to(shared[0], labels.value.shape)
    if not labels.removal and not distinct(ids):
        return None
    low, high = min(float(weights.trace.low.min()), 0.0), max(float(weights.trace.high.max()), 0.0)
    shares = Shares((), np.full(length, weights.trace.size), low == 0 or high == 0)
    width = weights.trace.size if labels.removal else float(gap(np.array(low), np.array(high)))
    few, size = (1 if labels.removal else 2), weights.trace.size
    both = Joint(size, size) if labels.removal else Joint(size, size).difference(one_sign=shares.one_sign)
    owners = np.array([ANYONE]) if labels.removal else ids
    trace = Spread(owners, np.full((1, length), width), few if few < length else None, both)
    terms = many_terms(len(ids), labels.removal)
    return Private(value, trace, Precision(weights.bits, size * terms).combine(weights.bits, size * terms, terms), labels.removal)


def ranked(function: Callable[..., Any]) -> Callable[..., Private | None]:
    """The known operation for np.max and np.min of replaceable records.

    Each grows with every entry, so that it lies between what it is of all lower and of all upper ends, and no record moves it
    further than that.
    """

    def operation(a: Any, axis: Any = None, **more: Any) -> Private | None:
        source = operand(a)
        if more or source is None or source.public or source.removal or not source.stable or not source.trace.finite:
            return None
        if not source.value.size or not (axis is None or isinstance(axis, int)):
            return None
        ids, low, high = (
            np.broadcast_to(part, source.value.shape) for part in (source.trace.ids, source.trace.low, source.trace.high)
        )
        value, low, high = (np.asarray(function(part, axis=axis)) for part in (source.value, low, high))
        precision = Precision(source.bits, source.trace.size)
        if not exact_kind(value, source.trace.size) or not fits(precision.bits, precision.size) or (ids == NOBODY).any():
            return None
        first, last = ids.min(axis=axis), ids.max(axis=axis)
        if bool((first == last).all()):  # of one record each
            return Private(value, Elements(np.asarray(first), low, high), precision, False)
        return Private(value, Spread(np.unique(ids), gap(low, high)[np.newaxis]), precision, False)

    return operation
