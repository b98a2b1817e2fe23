"""Arithmetic on sealed values: sums and differences, products with public weights or within a record, and contractions.

Each operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.sealed.dependence import MOST_MOVES, distinct
from dpaudit.sealed.joint_bounds import FREE
from dpaudit.sealed.row_facts import Facts
from dpaudit.sealed.trace import ANY_BITS, NOBODY, TINY, Elements, Intervals, Precision, Private, Spread, bits_of
from dpaudit.sealed.traces import functions, ranges
from dpaudit.sealed.traces.entry_facts import facts_of_product, facts_of_quotient, over_norm
from dpaudit.sealed.traces.functions import Operand, entrywise, exact_kind, operand, public
from dpaudit.sealed.traces.weights import one_weight, whole_weights


def added(function: np.ufunc) -> Callable[[Any, Any], Private | None]:
    """The known operation for np.add and np.subtract."""

    def operation(a: Any, b: Any) -> Private | None:
        one, other = operand(a), operand(b)
        if one is not None and other is not None:
            limits = ranges.corners(function, one.trace.range, other.trace.range)
            bits = max(one.bits, other.bits)
            facts = _facts_of_sum(function, one, other)
            slop = one.slop + other.slop
            result = None if limits is None else entrywise(function, [one, other], limits, bits, slop=slop, facts=facts)
            if result is not None:
                return result
        if isinstance(a, Private) and isinstance(b, Private):
            return _add_moves(function, a, b)
        return _shifted(function, a, b)

    return operation


def _facts_of_sum(function: np.ufunc, one: Operand, other: Operand) -> Facts:
    """A norm plus a public number that is not negative is no smaller; joint norms of the same records add up."""
    shape = np.broadcast_shapes(one.value.shape, other.value.shape)
    joint = FREE
    if not one.public and not other.public and one.value.shape == other.value.shape == shape:
        joint = one.facts.joint.plus(other.facts.joint)
    for side, by in ((one, other), (other, one)):
        if function is np.add and by.public and bool((by.value >= 0).all()) and side.facts.norm is not None:
            return Facts(norm=side.facts.norm.times(1.0))
    return Facts(joint)


def _shifted(function: np.ufunc, a: Any, b: Any) -> Private | None:
    """Values of many records and public numbers."""
    private, shift = (a, public(b)) if isinstance(a, Private) else (b, public(a))
    if shift is None or not np.isfinite(shift).all() or not isinstance(private.trace, Spread | Intervals):
        return None
    value = function(a.value, shift) if private is a else function(shift, b.value)
    trace = private.trace
    if isinstance(trace, Spread):
        trace = repeated(trace, private.value.shape, value.shape)
    elif value.shape != private.value.shape:
        return None
    size = private.precision.size + float(np.max(np.abs(shift), initial=0.0))
    bound = private.precision.combine(max(private.precision.bits, bits_of(shift)), size, 1)
    return Private(value, trace, bound, private.removal) if exact_kind(value, size) else None


def _add_moves(function: np.ufunc, a: Private, b: Private) -> Private | None:
    """Values of several records: each moves the sum by at most what it moves either of the two (triangle inequality)."""
    left, right = as_spread(a), as_spread(b)
    if left is None or right is None or a.removal != b.removal:
        return None
    value = function(a.value, b.value)
    left, right = repeated(left, a.value.shape, value.shape), repeated(right, b.value.shape, value.shape)
    same = np.array_equal(left.ids, right.ids)
    ids = left.ids if same else np.union1d(left.ids, right.ids)
    if not same and len(ids) * value.size > MOST_MOVES:
        return None
    places = None if left.places is None or right.places is None else left.places + right.places
    trace = Spread(ids, rows_for(left, ids) + rows_for(right, ids), places, left.joint.plus(right.joint))
    size = a.precision.size + b.precision.size
    base = Precision(max(a.precision.bits, b.precision.bits), size, a.precision.slop + b.precision.slop)
    return Private(value, trace, base.combine(base.bits, size, 2), a.removal) if exact_kind(value, size) else None


def rows_for(trace: Spread, ids: np.ndarray) -> np.ndarray:
    """The moves as rows for these ids, which contain the trace's own; one row where it holds for all of them."""
    if len(ids) == len(trace.ids) and np.array_equal(ids, trace.ids):
        return trace.moves
    moves = np.zeros((len(ids), *trace.moves.shape[1:]))
    moves[np.searchsorted(ids, trace.ids)] = trace.moves
    return moves


def as_spread(private: Private) -> Spread | None:
    """Entries of one record each as rows of moves; None where that grows too large, or cannot be said."""
    trace, size = private.trace, private.value.size
    if not isinstance(trace, Elements):
        return trace if isinstance(trace, Spread) else None
    if private.removal or not trace.finite:
        return None
    ids = np.broadcast_to(trace.ids, private.value.shape).ravel()
    own = np.flatnonzero(ids != NOBODY)
    records, row = np.unique(ids[own], return_inverse=True)
    if len(records) * size > MOST_MOVES:
        return None
    moves = np.zeros((len(records), size))
    moves[row, own] = np.broadcast_to(trace.width, private.value.shape).ravel()[own]
    joint = trace.facts.joint.difference(one_sign=False)
    return Spread(records, moves.reshape(len(records), *private.value.shape), 1 if distinct(ids[own]) else None, joint)


def repeated(trace: Spread, shape: tuple[int, ...], wider: tuple[int, ...]) -> Spread:
    """The trace of a value that is repeated to a wider shape."""
    if shape == wider:
        return trace
    rows = len(trace.moves)
    lifted = trace.moves.reshape(rows, *([1] * (len(wider) - len(shape))), *shape)
    return Spread(trace.ids, np.broadcast_to(lifted, (rows, *wider)))


def multiply(a: Any, b: Any) -> Private | None:
    """Private values times public weights, or times other values of the same records."""
    one, other = operand(a), operand(b)
    if one is not None and other is not None:
        limits = ranges.corners(np.multiply, one.trace.range, other.trace.range)
        if limits is not None and not one.public and one.origin is other.origin:  # a square is not negative
            limits = ranges.FUNCTIONS[np.square](one.trace.range)
        slop = one.slop * (other.trace.size + other.slop) + other.slop * one.trace.size
        slop = slop if one.stable and other.stable else max(slop, TINY)
        bits, facts = one.bits + other.bits, facts_of_product(one, other)
        product = None if limits is None else entrywise(np.multiply, [one, other], limits, bits, slop=slop, facts=facts)
        return _with_weights(product, a, b) if product is not None and (one.public or other.public) else product
    private, weights = (a, public(b)) if isinstance(a, Private) else (b, public(a))
    if weights is None:
        return None
    result, weight = (
        _weighted(private, np.multiply, weights, np.abs(weights.astype(float)), bits_of(weights)),
        one_weight(weights),
    )
    return result if result is None or weight is None or weights.ndim else result.times(private, weight)


def _with_weights(product: Private, a: Any, b: Any) -> Private:
    """Entries times public weights: the same entries times whole numbers, times a common divisor."""
    private, weights = (a, public(b)) if isinstance(a, Private) else (b, public(a))
    parts = None if weights is None else whole_weights(weights)
    if parts is None or parts[1] == 1:
        return product
    whole, divisor = parts
    if not whole.ndim:
        return product.times(private, divisor * int(whole))
    return product.times(multiply(private, whole), divisor)


def negative(a: Any) -> Private | None:
    source = operand(a)
    if source is None:
        opposite = _weighted(a, np.multiply, np.array(-1.0), np.array(1.0), 0)
        return opposite if opposite is None or a.multiple_of is None else opposite.times(a, Fraction(-1))
    low, high, nan = source.trace.range
    facts = Facts(source.facts.joint, source.facts.regions)
    return entrywise(np.negative, [source], (-high, -low, nan), source.bits, slop=source.slop, facts=facts)


def divide(a: Any, b: Any) -> Private | None:
    """Private values by public divisors, or by other values of the same records."""
    one, other = operand(a), operand(b)
    if one is not None and other is not None:
        limits = ranges.corners(np.true_divide, one.trace.range, other.trace.range)
        if limits is None and other.stable:
            limits = over_norm(one, other)
            return limits and entrywise(np.true_divide, [one, other], limits, ANY_BITS, facts=facts_of_quotient(one, other))
        if limits is None or not other.stable:
            return None
        bits = one.bits + _bits_of_inverse(other)
        least = np.minimum(np.abs(other.trace.low), np.abs(other.trace.high)).min(initial=np.inf)
        slop = max(one.slop / float(least), TINY) if one.slop else 0.0
        quotient = entrywise(np.true_divide, [one, other], limits, bits, slop=slop, facts=facts_of_quotient(one, other))
        weight = one_weight(other.value, inverse=True) if other.public and not other.value.ndim else None
        return quotient if quotient is None or weight is None else quotient.times(a, weight)
    if other is None or not other.public or not other.value.all() or not np.isfinite(other.value).all():
        return None
    result = _weighted(a, np.true_divide, other.value, np.abs(1.0 / other.value), _bits_of_inverse(other))
    weight = None if other.value.ndim else one_weight(other.value, inverse=True)
    return result if result is None or weight is None else result.times(a, weight)


def _bits_of_inverse(divisor: Operand) -> int:
    """Powers of two divide exactly."""
    powers = divisor.public and bool((np.abs(np.frexp(divisor.trace.low)[0]) == 0.5).all())
    return bits_of(1.0 / divisor.trace.low) if powers else ANY_BITS


def _weighted(a: Private, function: np.ufunc, by: np.ndarray, weights: np.ndarray, bits: int) -> Private | None:
    """Values of many records times public weights: their moves are multiplied alike."""
    trace, precision = a.trace, a.precision
    if not np.isfinite(weights).all() or not isinstance(trace, Spread | Intervals):
        return None
    if vanishing(trace.moves if isinstance(trace, Spread) else np.array(trace.width), weights):
        return None
    value = function(a.value, by)
    if isinstance(trace, Intervals):
        if weights.ndim:
            return None
        moved: Spread | Intervals = replace(trace, width=trace.width * float(weights))
    else:
        wide = repeated(trace, a.value.shape, value.shape)
        joint = wide.joint.scaled(float(np.max(weights, initial=0.0)))
        shares = None if wide.shares is None else wide.shares.scaled(weights)
        moved = replace(wide, moves=wide.moves * weights, joint=joint, shares=shares)
    size = precision.size * float(np.max(weights, initial=0.0))
    bound = precision.combine(precision.bits + bits, size, 3)
    return Private(value, moved, bound, a.removal) if exact_kind(value, size) else None


def vanishing(moves: np.ndarray, weights: np.ndarray) -> bool:
    """May a product of a move and a weight, neither of them 0, be too small to be computed to the last place?"""
    least = [float(np.min(part, where=part > 0, initial=np.inf)) for part in (moves, weights)]
    return least[0] * least[1] < TINY


def contraction(ufunc: np.ufunc) -> Callable[[Any], Private | None]:
    """The known operation for a function in ``ranges.CONTRACTIONS``: whatever its argument depends on, it moves no further."""
    of_entries = functions.function_of(ufunc)

    def operation(a: Any) -> Private | None:
        if isinstance(a.trace, Elements):
            return of_entries(a)
        bits = 0 if ufunc in (np.absolute, np.fabs) else ANY_BITS
        return _contracted(a, ufunc(a.value), bits, 1.0)

    return operation


def extreme(ufunc: np.ufunc) -> Callable[[Any, Any], Private | None]:
    """np.minimum and np.maximum of values of one record each, or of any values and public numbers."""
    of_entries = functions.extreme(ufunc)

    def operation(a: Any, b: Any) -> Private | None:
        private, end = (a, operand(b)) if isinstance(a, Private) else (b, operand(a))
        if isinstance(private.trace, Elements) or end is None or not end.public:
            return of_entries(a, b)
        return _contracted(private, ufunc(private.value, end.value), end.bits, end.trace.size)

    return operation


def clip(a: Any, low: Any = None, high: Any = None, **more: Any) -> Private | None:
    """np.clip with public ends."""
    if not isinstance(a, Private) or isinstance(a.trace, Elements) or more:
        return functions.clip(a, low, high, **more)
    ends = [operand(end) for end in (low, high) if end is not None]
    known = [end for end in ends if end is not None and end.public]
    if not known or len(known) < len(ends):
        return None
    plain: list[Any] = [None if end is None else public(end) for end in (low, high)]
    value = np.clip(a.value, *plain)
    return _contracted(a, value, max(end.bits for end in known), max(end.trace.size for end in known))


def _contracted(a: Private, value: np.ndarray, bits: int, size: float) -> Private | None:
    """The same trace for values that move no further: |f(a) − f(b)| ≤ |a − b|. Computed, f errs in the last places."""
    if not isinstance(a.trace, Spread | Intervals) or value.shape != a.value.shape or not np.isfinite(size):
        return None
    bound = a.precision.combine(max(a.precision.bits, bits), max(a.precision.size, size), 16)
    return Private(value, a.trace, bound, a.removal) if exact_kind(value, bound.size) else None
