"""Sums over records and matrix products: what one record moves is added up for each coordinate.

Each operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.sealed.dependence import MOST_MOVES, distinct
from dpaudit.sealed.trace import ANY_BITS, ANYONE, NOBODY, Elements, Intervals, Precision, Private, Spread, Trace, fits
from dpaudit.sealed.traces import ranges
from dpaudit.sealed.traces.arithmetic import divide, multiply, vanishing
from dpaudit.sealed.traces.functions import Operand, operand, shared_records

_ALIKE = 2**20  # numbers of removable records up to this one give the same bounds: the number is private

Shape = tuple[int, ...]


def total(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Private | None:
    """np.sum: each record moves it by its range or, where it can be absent, by its largest magnitude."""
    if dtype is not None or out is not None or more or not isinstance(a, Private) or isinstance(axis, Private):
        return None
    shape = a.value.shape
    value = np.sum(a.value, axis=axis)
    axes = _axes(axis, len(shape))
    if isinstance(a.trace, Elements) and not a.trace.finite:
        return a.lost("a sum of values that can be NaN or infinite", np.sum(a.value, axis=axis, keepdims=bool(keepdims)))
    trace = _summed(a.trace, shape, axes, a.removal)
    if trace is None:
        return None
    terms = _terms(math.prod(shape[place] for place in axes), a.removal and isinstance(trace, Spread))
    result = _result(value, trace, a.precision, a.precision.bits, a.precision.size * terms, terms, a.removal)
    if result is None or not keepdims:
        return result
    return _kept(result, tuple(1 if place in axes else length for place, length in enumerate(shape)))


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The summed axes, which numpy has accepted."""
    given = range(ndim) if axis is None or not ndim else axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(int(place) % ndim for place in given))


def _terms(count: int, private: bool) -> int:
    """How many numbers are added; where their number is private, a public number that is larger."""
    return max(_ALIKE, 1 << count.bit_length()) if private else max(count, 1)


def _result(value: Any, trace: Trace, before: Precision, bits: int, size: float, terms: int, removal: bool) -> Private | None:
    """A sum with its trace. Entries of one record each are computed alike in equal shapes: only a removal leaves a slop."""
    value = np.asarray(value)
    precision = before.combine(bits, size, terms)
    if value.dtype.kind not in "if" or value.itemsize != 8 or (value.dtype.kind == "i" and not size < 2**53):
        return None
    if isinstance(trace, Elements) and not fits(bits, size):
        error = terms * 2.0**-51 * size
        trace = Elements(trace.ids, trace.low - error, trace.high + error, False, trace.axis)
        precision = Precision(ANY_BITS, size + error, precision.slop if removal else 0.0)
    return Private(value, trace, precision, removal)


def _kept(private: Private, shape: Shape) -> Private | None:
    """A sum with its summed axes kept, of length 1."""
    trace = private.trace
    if not isinstance(trace, Spread):
        return None
    return private.with_trace(private.value.reshape(shape), Spread(trace.ids, trace.moves.reshape(-1, *shape), trace.places))


def _summed(trace: Trace, shape: Shape, axes: tuple[int, ...], removal: bool) -> Elements | Spread | None:
    if isinstance(trace, Spread):
        moves = trace.moves
        if trace.places is not None and len(axes) == len(shape) and trace.places < moves[0].size:
            flat = moves.reshape(len(moves), -1)  # at most so many of the coordinates move
            return Spread(trace.ids, np.sort(flat, axis=1)[:, flat.shape[1] - trace.places :].sum(axis=1))
        return Spread(trace.ids, moves.sum(axis=tuple(place + 1 for place in axes)), trace.places)
    if not isinstance(trace, Elements):
        return None
    return _summed_removable(trace, shape, axes) if removal else _summed_entries(trace, shape, axes)


def _summed_entries(trace: Elements, shape: Shape, axes: tuple[int, ...]) -> Elements | Spread | None:
    """Within one record, ranges add up; over several, each record moves the sum by the widths of its own entries."""
    ids, kept = np.broadcast_to(trace.ids, shape), tuple(place for place in range(len(shape)) if place not in axes)
    if _constant(ids, axes):
        low, high = (np.broadcast_to(end, shape).sum(axis=axes) for end in (trace.low, trace.high))
        return Elements(ids.max(axis=axes, initial=NOBODY), low, high)
    width = trace.width
    over, rest = math.prod(shape[place] for place in axes), tuple(shape[place] for place in kept)
    size = math.prod(rest)

    def table(entries: np.ndarray) -> np.ndarray:
        return np.broadcast_to(entries, shape).transpose(*axes, *kept).reshape(over, size)

    if size and _constant(ids, kept):  # every coordinate sums the same records
        column = ids.max(axis=kept).ravel() if kept else ids.ravel()
        if distinct(column):
            return Spread(column, np.full((1, *rest), width) if width.ndim == 0 else table(width).reshape(over, *rest))
    records, row = np.unique(table(ids), return_inverse=True)
    if len(records) * size > MOST_MOVES:
        return None
    moves = np.zeros((len(records), size))
    np.add.at(moves, (row.reshape(over, size), np.broadcast_to(np.arange(size), (over, size))), table(width))
    return Spread(records, moves.reshape(len(records), *rest))


def _constant(ids: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Do entries along these axes belong to one record each, or to nobody?"""
    axes = tuple(place for place in axes if ids.strides[place])  # along the others, the same id is repeated
    if not axes:
        return True
    few = ids[tuple(slice(0, 2) if place in axes else slice(None) for place in range(ids.ndim))]
    return all(
        bool(((part == part.max(axis=axes, keepdims=True, initial=NOBODY)) | (part == NOBODY)).all()) for part in (few, ids)
    )


def _summed_removable(trace: Elements, shape: Shape, axes: tuple[int, ...]) -> Elements | Spread:
    """The same where a record may be absent: it then moves a sum over records by what it adds to it."""
    records = len(shape) + trace.axis
    features = tuple(place for place in axes if place != records)
    one = tuple(1 if place == records else length for place, length in enumerate(shape))
    low, high = (np.broadcast_to(end, one).sum(axis=features, keepdims=True) for end in (trace.low, trace.high))
    if records in axes:
        return Spread(np.array([ANYONE]), np.maximum(np.abs(low), np.abs(high)).squeeze(axis=axes)[np.newaxis])
    after = sum(place > records and place not in axes for place in range(len(shape)))
    return Elements(trace.ids, low.squeeze(axis=features), high.squeeze(axis=features), False, -1 - after)


def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, **more: Any) -> Private | None:
    """np.average by public weights, one per entry of a vector or row of a table."""
    if weights is None and not returned:
        return mean(a, axis, **more)
    given = operand(weights)
    if (
        returned
        or more
        or given is None
        or not given.public
        or not isinstance(a, Private)
        or given.value.shape != a.value.shape[:1]
    ):
        return None
    if a.hidden or axis not in ((None, 0) if a.value.ndim == 1 else (0,)):
        return None
    summed = given.value.sum(dtype=float)
    lifted = given.value.reshape(-1, *([1] * (a.value.ndim - 1)))
    weighted = multiply(a, lifted) if summed else None
    total_ = None if weighted is None else total(weighted, 0)
    return None if total_ is None else divide(total_, summed)


def mean(a: Any, axis: Any = None, **more: Any) -> Private | None:
    """np.mean, where the number of values is public."""
    if more or not isinstance(a, Private) or not a.value.size or isinstance(axis, Private):
        return None
    summed = total(a, axis)
    axes = _axes(axis, a.value.ndim)
    if summed is None or (a.removal and isinstance(a.trace, Elements) and a.value.ndim + a.trace.axis in axes):
        return None
    return divide(summed, math.prod(a.value.shape[place] for place in axes))


def running(a: Any, axis: Any = None, **more: Any) -> Private | None:
    """np.cumsum of a vector: entry c is the sum of the first c + 1."""
    given = operand(a)
    if more or axis not in (None, 0, -1) or given is None or given.removal or given.value.ndim != 1 or not given.trace.finite:
        return None
    n, size = len(given.value), given.trace.size
    ids, width = np.broadcast_to(given.trace.ids, n), given.trace.width
    trace: Trace | None = None
    if width.ndim == 0 and bool((np.diff(ids) == 1).all()):
        trace = Intervals(ids[:1].repeat(n), ids + 1, float(width))
    elif n * n <= MOST_MOVES:
        trace = _product(Operand(np.tri(n), Elements(np.array(NOBODY), np.tri(n), np.tri(n)), 0, public=True), given)
    if trace is None:
        return None
    return _result(np.cumsum(given.value), trace, Precision(given.bits, size), given.bits, size * n, n, False)


def matmul(a: Any, b: Any) -> Private | None:
    """Matrix products with public weights, or with values of the same records: Σ over k of a[…, k]·b[k, …]."""
    one, other = operand(a), operand(b)
    if one is None or other is None:
        return _weighted_moves(a, b)
    if not {one.value.ndim, other.value.ndim} <= {1, 2} or one.value.shape[-1] != other.value.shape[0]:
        return None
    if a is b and one.value.ndim == 1:
        squares = multiply(a, a)
        trace = None if squares is None else _summed(squares.trace, squares.value.shape, (0,), squares.removal)
    else:
        trace = _product(one, other)
    if trace is None:
        return None
    terms = _terms(len(other.value), (one.removal or other.removal) and isinstance(trace, Spread))
    size = one.trace.size * other.trace.size * terms
    before = Precision(one.bits + other.bits, size, one.slop * other.trace.size * terms + other.slop * one.trace.size * terms)
    return _result(one.value @ other.value, trace, before, before.bits, size, terms, one.removal or other.removal)


def _product(a: Operand, b: Operand) -> Elements | Spread | None:
    """The trace of a matrix product: all products of entries, and the sum over the inner axis."""
    lift = b.value.ndim - 1
    shape = np.broadcast_shapes(a.value.shape + (1,) * lift, b.value.shape)
    if math.prod(shape) > 4 * MOST_MOVES:
        return None

    def lifted(part: np.ndarray) -> np.ndarray:
        return part if part.ndim == 0 or not lift else part[..., np.newaxis]

    left = Elements(lifted(a.trace.ids), lifted(a.trace.low), lifted(a.trace.high), a.trace.nan, a.trace.axis - lift)
    wide = Operand(lifted(a.value), left, a.bits, removal=a.removal, public=a.public)
    shared = shared_records([wide, b])
    given = ranges.corners(np.multiply, left.range, b.trace.range)
    if shared is None or given is None or given[2]:
        return None
    low, high, _ = given
    return _summed(Elements(shared[0], low, high, False, shared[1]), shape, (a.value.ndim - 1,), shared[2])


def _weighted_moves(a: Any, b: Any) -> Private | None:
    """Public weights times values of many records: coordinate c moves by Σ_j |w_cj|·move_j."""
    left = isinstance(a, Private)
    private, weights = (a, operand(b)) if left else (b, operand(a))
    if weights is None or not weights.public or weights.value.ndim not in (1, 2) or not np.isfinite(weights.value).all():
        return None
    trace, precision = private.trace, private.precision
    if not isinstance(trace, Spread) or private.value.ndim != 1:
        return None
    rows = np.abs(weights.trace.low if left or weights.value.ndim == 1 else weights.trace.low.T)
    if vanishing(trace.moves, rows):
        return None
    value = a.value @ weights.value if left else weights.value @ b.value
    size = precision.size * float(rows.sum(axis=0).max(initial=0.0))
    bits, terms = precision.bits + weights.bits, max(len(private.value), 1)
    return _result(value, Spread(trace.ids, trace.moves @ rows), precision, bits, size, terms, private.removal)


def dot(a: Any, b: Any) -> Private | None:
    """np.dot: a product where one side is a number, else as matmul."""
    return multiply(a, b) if not (_dimensions(a) and _dimensions(b)) else matmul(a, b)


def _dimensions(value: Any) -> int:
    return value.value.ndim if isinstance(value, Private) else np.ndim(value)
