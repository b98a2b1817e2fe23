"""Sums over records and matrix products: what one record moves is added up for each coordinate.

Each operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.sealed.callers import caller
from dpaudit.sealed.dependence import MOST_MOVES, distinct
from dpaudit.sealed.joint_bounds import FREE, Joint, both_regions
from dpaudit.sealed.row_facts import Facts
from dpaudit.sealed.trace import ANY_BITS, ANYONE, NOBODY, Elements, Intervals, Precision, Private, Spread, Trace, fits
from dpaudit.sealed.traces import ranges
from dpaudit.sealed.traces.arithmetic import divide, multiply, vanishing
from dpaudit.sealed.traces.functions import Operand, operand, shared_records
from dpaudit.sealed.traces.record_shares import joint_of_entries, mapped_rows, with_facts_of_sum, with_shares
from dpaudit.sealed.traces.weights import whole_weights

_ONE_BY_ONE = 2**12  # numbers within a record that are added one by one
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
    count = math.prod(shape[place] for place in axes)
    terms = many_terms(count, a.removal and isinstance(trace, Spread))
    size, apart = a.precision.size * terms, a.removal
    if a.removal and isinstance(trace, Elements) and a.precision.slop == 0.0 and count <= _ONE_BY_ONE:
        value, apart = (value, True) if fits(a.precision.bits, size) else (_in_order(a.value, axes), False)
    result = _result(value, trace, a.precision, a.precision.bits, size, terms, a.removal, apart=apart)
    result = result if result is None or not keepdims else _kept(result, shape, axes)
    if result is not None and a.removal and isinstance(a.trace, Elements) and isinstance(trace, Spread):
        result = result.signed(1 if bool((a.trace.low >= 0).all()) else -1 if bool((a.trace.high <= 0).all()) else 0)
    if result is not None and a.multiple_of is not None:
        result = result.times(total(a.multiple_of[0], axis, keepdims=keepdims), a.multiple_of[1])
    return result


def _in_order(value: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Sums within records, number by number: numpy's own order of addition may follow how many records there are."""
    shape = tuple(length for place, length in enumerate(value.shape) if place not in axes)
    parts = np.moveaxis(value, axes, range(len(axes))).reshape(math.prod(value.shape[place] for place in axes), *shape)
    summed = np.zeros(shape)
    for part in parts:
        summed = summed + part
    return summed


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The summed axes, which numpy has accepted."""
    places = range(ndim) if axis is None or not ndim else axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(int(place) % ndim for place in places))


def many_terms(count: int, private: bool) -> int:
    """How many numbers are added; where their number is private, a public number that is larger."""
    return max(_ALIKE, 1 << count.bit_length()) if private else max(count, 1)


def _result(
    value: Any, trace: Trace, before: Precision, bits: int, size: float, terms: int, removal: bool, *, apart: bool | None = None
) -> Private | None:
    """A sum with its trace. Entries of one record each are computed alike in equal shapes: only a removal leaves a slop, and not
    even that where they are not computed ``apart`` in other shapes."""
    value = np.asarray(value)
    precision = before.combine(bits, size, terms)
    if value.dtype.kind not in "if" or value.itemsize != 8 or (value.dtype.kind == "i" and not size < 2**53):
        return None
    if isinstance(trace, Elements) and not fits(bits, size):
        error = terms * 2.0**-51 * size
        trace = Elements(trace.ids, trace.low - error, trace.high + error, False, trace.axis, facts=trace.facts)
        precision = Precision(ANY_BITS, size + error, precision.slop if (removal if apart is None else apart) else 0.0)
    return Private(value, trace, precision, removal)


def _kept(private: Private, before: Shape, axes: tuple[int, ...]) -> Private | None:
    """A sum with its summed axes kept, of length 1."""
    trace = private.trace
    value = np.expand_dims(private.value, axes)
    if isinstance(trace, Spread):
        shares = None if trace.shares is None else trace.shares.moved(lambda part: np.expand_dims(part, axes))
        moves = np.expand_dims(trace.moves, tuple(place + 1 for place in axes))
        return private.with_trace(value, replace(trace, moves=moves, shares=shares))
    if not isinstance(trace, Elements):
        return None

    def lifted(part: np.ndarray) -> np.ndarray:
        if part.ndim == 0:
            return part
        full = part.reshape((1,) * (private.value.ndim - part.ndim) + part.shape)
        return np.expand_dims(full, axes)

    own = [place for place in range(len(before)) if place not in axes]
    records = own[private.value.ndim + trace.axis] - len(before) if private.removal else -1
    facts = trace.facts.lifted(lifted)
    entries = Elements(lifted(trace.ids), lifted(trace.low), lifted(trace.high), trace.nan, records, facts=facts)
    return private.with_trace(value, entries)


def _summed(trace: Trace, shape: Shape, axes: tuple[int, ...], removal: bool) -> Elements | Spread | None:
    if isinstance(trace, Spread):
        moves = trace.moves
        if trace.places is not None and len(axes) == len(shape) and trace.places < moves[0].size:
            flat = moves.reshape(len(moves), -1)  # at most so many of the coordinates move
            return Spread(trace.ids, np.sort(flat, axis=1)[:, flat.shape[1] - trace.places :].sum(axis=1))
        summed = moves.sum(axis=tuple(place + 1 for place in axes))
        return Spread(trace.ids, np.minimum(summed, trace.joint.l1), trace.places, Joint(trace.joint.l1, trace.joint.l1))
    if not isinstance(trace, Elements):
        return None
    return _summed_removable(trace, shape, axes) if removal else _summed_entries(trace, shape, axes)


def _summed_entries(trace: Elements, shape: Shape, axes: tuple[int, ...]) -> Elements | Spread | None:
    """Within one record, ranges add up; over several, each record moves the sum by the widths of its own entries."""
    ids, result_axes = np.broadcast_to(trace.ids, shape), tuple(place for place in range(len(shape)) if place not in axes)
    if _constant(ids, axes):
        low, high = (np.broadcast_to(end, shape).sum(axis=axes) for end in (trace.low, trace.high))
        summed = Elements(ids.max(axis=axes, initial=NOBODY), low, high)
        return with_facts_of_sum(summed, trace, shape, axes)
    within = tuple(place for place in axes if trace.ids.ndim == 0 or (trace.ids.shape[place - len(shape)] == 1
                   if place - len(shape) >= -trace.ids.ndim else True))  # fmt: skip
    if within and shape and math.prod(shape[place] for place in within) > 1:  # first within each record, then over records
        inner = _summed_entries(trace, shape, within)
        rest_axes = tuple(place - sum(other < place for other in within) for place in axes if place not in within)
        assert isinstance(inner, Elements)
        return _summed_entries(inner, tuple(length for place, length in enumerate(shape) if place not in within), rest_axes)
    width = trace.width
    over, rest = math.prod(shape[place] for place in axes), tuple(shape[place] for place in result_axes)
    size = math.prod(rest)

    def table(entries: np.ndarray) -> np.ndarray:
        return np.broadcast_to(entries, shape).transpose(*axes, *result_axes).reshape(over, size)

    if size and _constant(ids, result_axes):  # every coordinate sums the same records
        column = ids.max(axis=result_axes).ravel() if result_axes else ids.ravel()
        if distinct(column):
            moves = np.full((1, *rest), width) if width.ndim == 0 else table(width).reshape(over, *rest)
            return with_shares(Spread(column, moves), trace, shape, axes, removal=False)
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
    after = sum(place > records and place not in axes for place in range(len(shape)))
    inner = Elements(trace.ids, low.squeeze(axis=features), high.squeeze(axis=features), False, -1 - after)
    inner = with_facts_of_sum(inner, trace, one, features) if features else replace(inner, facts=trace.facts)
    if records not in axes:
        return inner
    axis = records - sum(place < records for place in features)
    shape = tuple(length for place, length in enumerate(one) if place not in features)
    size = np.broadcast_to(np.maximum(np.abs(inner.low), np.abs(inner.high)), shape).squeeze(axis=axis)
    return with_shares(Spread(np.array([ANYONE]), size[np.newaxis]), inner, shape, (axis,), removal=True)


def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, **more: Any) -> Private | None:
    """np.average by public weights, one per entry of a vector or row of a table."""
    if weights is None and not returned:
        return mean(a, axis, **more)
    factors = operand(weights)
    if (
        returned
        or more
        or factors is None
        or not factors.public
        or not isinstance(a, Private)
        or factors.value.shape != a.value.shape[:1]
    ):
        return None
    if a.hidden or axis not in ((None, 0) if a.value.ndim == 1 else (0,)):
        return None
    summed = factors.value.sum(dtype=float)
    lifted = factors.value.reshape(-1, *([1] * (a.value.ndim - 1)))
    weighted = multiply(a, lifted) if summed else None
    total_ = None if weighted is None else total(weighted, 0)
    return None if total_ is None else divide(total_, summed)


def mean(a: Any, axis: Any = None, **more: Any) -> Private | None:
    """np.mean, where the number of values is public."""
    if more or not isinstance(a, Private) or not a.value.size or isinstance(axis, Private):
        return None
    summed = total(a, axis)
    axes = _axes(axis, a.value.ndim)
    if summed is not None and a.removal and isinstance(a.trace, Elements) and a.value.ndim + a.trace.axis in axes:
        rewrite = "release the sum and the count, as np.isfinite(x).sum(), and divide what the channel returns"
        raise Leak("a mean, which divides by the number of records,", caller(), rewrite)
    if summed is None:
        return None
    return divide(summed, math.prod(a.value.shape[place] for place in axes))


def running(a: Any, axis: Any = None, **more: Any) -> Private | None:
    """np.cumsum of a vector: entry c is the sum of the first c + 1."""
    source = operand(a)
    if more or axis not in (None, 0, -1) or source is None or source.removal or source.value.ndim != 1 or not source.trace.finite:
        return None
    n, size = len(source.value), source.trace.size
    ids, width = np.broadcast_to(source.trace.ids, n), source.trace.width
    trace: Trace | None = None
    if width.ndim == 0 and bool((np.diff(ids) == 1).all()):
        trace = Intervals(ids[:1].repeat(n), ids + 1, float(width))
    elif n * n <= MOST_MOVES:
        trace = _product(Operand(np.tri(n), Elements(np.array(NOBODY), np.tri(n), np.tri(n)), 0, public=True), source)
    if trace is None:
        return None
    return _result(np.cumsum(source.value), trace, Precision(source.bits, size), source.bits, size * n, n, False)


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
    terms = many_terms(len(other.value), (one.removal or other.removal) and isinstance(trace, Spread))
    size = one.trace.size * other.trace.size * terms
    before = Precision(one.bits + other.bits, size, one.slop * other.trace.size * terms + other.slop * one.trace.size * terms)
    value, removal = one.value @ other.value, one.removal or other.removal
    apart = removal
    if removal and isinstance(trace, Elements) and before.slop == 0.0 and terms <= _ONE_BY_ONE and not fits(before.bits, size):
        wide = one.value if other.value.ndim == 1 else one.value[..., np.newaxis]
        value, apart = _in_order(wide * other.value, (one.value.ndim - 1,)), False
    result = _result(value, trace, before, before.bits, size, terms, removal, apart=apart)
    parts = whole_weights(a if one.public else b) if one.public or other.public else None
    if result is None or parts is None or parts[1] == 1:
        return result
    return result.times(matmul(parts[0], b) if one.public else matmul(a, parts[0]), parts[1])


def _product(a: Operand, b: Operand) -> Elements | Spread | None:
    """The trace of a matrix product: all products of entries, and the sum over the inner axis."""
    lift = b.value.ndim - 1
    shape = np.broadcast_shapes(a.value.shape + (1,) * lift, b.value.shape)
    if math.prod(shape) > 4 * MOST_MOVES:
        return None

    def lifted(part: np.ndarray) -> np.ndarray:
        return part if part.ndim == 0 or not lift else part[..., np.newaxis]

    facts = a.facts.lifted(lifted)
    left = Elements(lifted(a.trace.ids), lifted(a.trace.low), lifted(a.trace.high), a.trace.nan, a.trace.axis - lift, facts=facts)
    wide = Operand(lifted(a.value), left, a.bits, removal=a.removal, public=a.public)
    shared = shared_records([wide, b])
    limits = ranges.corners(np.multiply, left.range, b.trace.range)
    if shared is None or limits is None or limits[2]:
        return None
    low, high, _ = limits
    product = Elements(
        shared[0], low, high, False, shared[1], facts=Facts(_outer(a, b), both_regions(facts.regions, b.facts.regions))
    )
    summed = _summed(product, shape, (a.value.ndim - 1,), shared[2])
    return mapped_rows(summed, a, b.value) if isinstance(summed, Elements) and b.public else summed


def _outer(a: Operand, b: Operand) -> Joint:
    """The norms of all products of the entries of one record: those of an outer product are the products of the norms."""
    if a.public or b.public:
        private, weights = (b, np.abs(a.trace.low).T) if a.public else (a, np.abs(b.trace.low))
        most = weights.reshape(len(weights), -1).sum(axis=1).max(initial=0.0)  # each entry is multiplied by one row of them
        return FREE if private.facts.joint == FREE else private.facts.joint.scaled(float(np.nextafter(most, np.inf)))
    one, other = joint_of_entries(a.trace, a.value.shape), joint_of_entries(b.trace, b.value.shape)
    known = a.facts.joint != FREE or b.facts.joint != FREE
    return Joint(one.scaled(other.l1).l1, one.scaled(other.l2).l2) if known else FREE


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
    joint = trace.joint.scaled(float(rows.sum()))
    return _result(value, Spread(trace.ids, trace.moves @ rows, joint=joint), precision, bits, size, terms, private.removal)


def dot(a: Any, b: Any) -> Private | None:
    """np.dot: a product where one side is a number, else as matmul."""
    return multiply(a, b) if not (_dimensions(a) and _dimensions(b)) else matmul(a, b)


def _dimensions(value: Any) -> int:
    return value.value.ndim if isinstance(value, Private) else np.ndim(value)
