"""The operations whose effect on a trace is known. Each gives None where it cannot say: the result is then untraced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.traces import ANYONE, Elements, Intervals, Precision, Private, Spread, Untraced, bits_of, caller

_DIAGONAL = 4096  # records up to which a vector is spread out as a square matrix


def index(private: Private, where: Any) -> Private:
    """private[where]. Every place of the result is one place of the source, so the trace is indexed alike."""
    trace = private.trace
    try:
        places = np.arange(private.value.size).reshape(private.value.shape)[where]
    except IndexError:
        if private.hidden:  # whether a place exists tells how many records there are
            raise Leak("its length", caller()) from None
        raise
    value = private.value.ravel()[places]
    if private.removal and isinstance(trace, Elements):
        # A removed record moves all later ones to other places, in and out of any slice but the whole.
        whole = isinstance(where, slice) and where == slice(None)
        return private if whole else private.lost("indexing records that can be removed", value)
    if isinstance(trace, Elements):
        chosen = Elements(trace.ids[places], trace.low[places], trace.high[places])
        if value.ndim == 1 and len(np.unique(places)) == len(places):
            return private.with_trace(value, chosen)
        spread = spread_out(chosen)
        return private.lost("indexing", value) if spread is None else private.with_trace(value, spread)
    if isinstance(trace, Spread):
        moves = trace.moves.reshape(len(trace.ids), private.value.size)
        chosen_moves = moves[:, places.ravel()].reshape(len(trace.ids), *places.shape)
        return private.with_trace(value, Spread(trace.ids, chosen_moves))
    if isinstance(trace, Intervals):
        start, stop = trace.start.ravel()[places], trace.stop.ravel()[places]
        return private.with_trace(value, Intervals(start, stop, trace.width))
    return private.lost("indexing", value)


def spread_out(elements: Elements) -> Spread | None:
    """The same dependence as moves of each record; entries of one record are joined. None where it grows too large."""
    ids, inverse = np.unique(elements.ids, return_inverse=True)
    if max(len(ids), elements.ids.size) > _DIAGONAL:
        return None
    moves = np.zeros((len(ids), elements.ids.size))
    moves[inverse.ravel(), np.arange(elements.ids.size)] = (elements.high - elements.low).ravel()
    return Spread(ids, moves.reshape(len(ids), *elements.ids.shape))


def total(private: Private, axis: Any = None, dtype: Any = None, out: Any = None, **more: Any) -> Private | None:
    """private.sum(): each record moves it by its range or, where it can be absent, by its largest magnitude."""
    if dtype is not None or out is not None or more:
        return None
    trace, terms = private.trace, max(private.value.size, 1)
    bound = private.precision.combine(private.precision.bits, private.precision.size * terms, terms)
    if isinstance(trace, Elements) and axis in (None, 0, -1):
        spread = Spread(trace.ids, trace.high - trace.low)
        if private.removal:
            spread = Spread(np.array([ANYONE]), np.maximum(abs(trace.low), abs(trace.high)).reshape(1))
        return Private(private.value.sum(), spread, bound, private.removal)
    if isinstance(trace, Spread) and (axis is None or (axis in (0, -1) and private.value.ndim == 1)):
        moves = trace.moves.reshape(len(trace.ids), private.value.size).sum(axis=1)
        return Private(private.value.sum(), Spread(trace.ids, moves), bound, private.removal)
    return None


def average(private: Private, axis: Any = None, dtype: Any = None, out: Any = None, **more: Any) -> Private | None:
    """private.mean(), where the number of values is public."""
    if private.hidden or not private.value.size:
        return None
    summed = total(private, axis, dtype, out, **more)
    return None if summed is None else divide(summed, private.value.size)


def clip(private: Private, low: Any = None, high: Any = None, **more: Any) -> Private | None:
    """private.clip(low, high) with public ends."""
    given = more.pop("a_min", more.pop("min", low)), more.pop("a_max", more.pop("max", high))
    ends: list[Any] = [None if end is None else _public(end) for end in given]
    known = [end for end in ends if end is not None]
    if more or not known or len(known) < sum(end is not None for end in given) or any(np.isnan(end).any() for end in known):
        return None
    if not isinstance(private.trace, Elements) or (private.removal and any(end.ndim for end in known)):
        return None
    value = np.clip(private.value, *ends)
    if value.shape != private.value.shape:
        return None
    trace = private.trace
    trace = replace(trace, low=np.clip(trace.low, *ends), high=np.clip(trace.high, *ends))
    bits = max(private.precision.bits, *(bits_of(end) for end in known))
    size = float(np.maximum(abs(trace.low), abs(trace.high)).max(initial=0.0))
    return Private(value, trace, private.precision.combine(bits, size, 1), private.removal)


def add(a: Any, b: Any, sign: int = 1) -> Private | None:
    """a + sign·b, where one of them may be public."""
    operate = np.add if sign > 0 else np.subtract
    if isinstance(a, Private) and isinstance(b, Private):
        return _add_private(a, b, operate)
    private, public = (a, _public(b)) if isinstance(a, Private) else (b, _public(a))
    if public is None or not np.isfinite(public).all() or isinstance(private.trace, Untraced):
        return None
    if np.broadcast_shapes(private.value.shape, public.shape) != private.value.shape or (private.removal and public.ndim):
        return None

    def shifted(values: np.ndarray) -> np.ndarray:
        result: np.ndarray = operate(values, public) if isinstance(a, Private) else operate(public, values)
        return result

    trace = private.trace
    if isinstance(trace, Elements):  # rounded addition is monotone: the ends stay ends
        ends = shifted(trace.low), shifted(trace.high)
        trace = replace(trace, low=np.minimum(*ends), high=np.maximum(*ends))
    size = private.precision.size + float(np.max(np.abs(public), initial=0.0))
    bound = private.precision.combine(max(private.precision.bits, bits_of(public)), size, 1)
    return Private(shifted(private.value), trace, bound, private.removal)


def _add_private(a: Private, b: Private, operate: np.ufunc) -> Private | None:
    if a.value.shape != b.value.shape or a.removal != b.removal:
        return None
    size = a.precision.size + b.precision.size
    base = Precision(max(a.precision.bits, b.precision.bits), size, a.precision.slop + b.precision.slop)
    bound = base.combine(base.bits, size, 1)
    value = operate(a.value, b.value)
    if isinstance(a.trace, Elements) and isinstance(b.trace, Elements) and np.array_equal(a.trace.ids, b.trace.ids):
        low, high = (b.trace.low, b.trace.high) if operate is np.add else (b.trace.high, b.trace.low)
        ends = Elements(a.trace.ids, operate(a.trace.low, low), operate(a.trace.high, high))
        return Private(value, ends, bound, a.removal)
    left, right = _as_spread(a), _as_spread(b)
    if left is None or right is None:
        return None
    ids = np.union1d(left.ids, right.ids)
    moves = np.zeros((len(ids), *value.shape))
    moves[np.searchsorted(ids, left.ids)] += left.moves  # triangle inequality
    moves[np.searchsorted(ids, right.ids)] += right.moves
    return Private(value, Spread(ids, moves), bound, a.removal)


def _as_spread(private: Private) -> Spread | None:
    if isinstance(private.trace, Elements) and not private.removal:
        return spread_out(private.trace)
    return private.trace if isinstance(private.trace, Spread) else None


def multiply(a: Any, b: Any) -> Private | None:
    """Private values times public weights."""
    private, weights = (a, _public(b)) if isinstance(a, Private) else (b, _public(a))
    if weights is None or not np.isfinite(weights).all() or isinstance(private.trace, Untraced | Intervals):
        return None
    if np.broadcast_shapes(private.value.shape, weights.shape) != private.value.shape or (private.removal and weights.ndim):
        return None
    trace, precision = private.trace, private.precision
    largest = float(np.max(np.abs(weights), initial=0.0))
    bound = precision.combine(precision.bits + bits_of(weights), precision.size * largest, 1)
    if isinstance(trace, Elements):
        ends = trace.low * weights, trace.high * weights
        trace = replace(trace, low=np.minimum(*ends), high=np.maximum(*ends))
    else:
        trace = Spread(trace.ids, trace.moves * np.abs(weights))
    return Private(private.value * weights, trace, bound, private.removal)


def divide(a: Any, b: Any) -> Private | None:
    """Private values by public divisors."""
    divisor = _public(b)
    if not isinstance(a, Private) or divisor is None or not divisor.all() or not np.isfinite(divisor).all():
        return None
    result = multiply(a, 1.0 / divisor)
    if result is None or bool((np.abs(np.frexp(divisor)[0]) == 0.5).all()):  # powers of two divide exactly
        return result
    precision = result.precision
    rounded = replace(precision, slop=precision.slop + 2.0**-51 * precision.size)  # of 1/divisor and of the product
    return Private(a.value / divisor, result.trace, rounded, a.removal)


def matmul(a: Any, b: Any) -> Private | None:
    """Public weights times a vector, or a vector times public weights: coordinate c moves by Σ_j |w_cj|·move_j."""
    private, weights = (a, _public(b)) if isinstance(a, Private) else (b, _public(a))
    trace, precision = private.trace, private.precision
    if weights is None or weights.ndim not in (1, 2) or private.removal or private.value.ndim != 1:
        return None
    rows = weights.T if isinstance(a, Private) else weights
    if not isinstance(trace, Elements | Spread) or not np.isfinite(rows).all():
        return None
    if isinstance(trace, Elements):
        moves = np.abs(rows).T * (trace.high - trace.low).reshape(-1, *([1] * (rows.ndim - 1)))
    else:
        moves = trace.moves @ np.abs(rows).T
    size = precision.size * float(np.abs(rows).sum(axis=-1).max(initial=0.0))
    bound = precision.combine(precision.bits + bits_of(rows), size, max(private.value.size, 1))
    return Private(rows @ private.value, Spread(trace.ids, moves), bound, False)


def dot(a: Any, b: Any) -> Private | None:
    """np.dot: a product where one side is a number, else as matmul."""
    return multiply(a, b) if not (_dimensions(a) and _dimensions(b)) else matmul(a, b)


def _dimensions(value: Any) -> int:
    return value.value.ndim if isinstance(value, Private) else np.ndim(value)


def _public(value: Any) -> np.ndarray | None:
    """A public operand as plain floats, so that no foreign type is handed private values; None if it is private."""
    if isinstance(value, Private):
        return None
    array = np.asarray(value)
    return np.asarray(array, dtype=float) if array.dtype.kind in "biufO" else None
