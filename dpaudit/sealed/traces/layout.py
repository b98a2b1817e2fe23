"""Operations that only move entries to other places: indexing, reshaping, joining. Traces are moved alike.

Each operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.claims.leak_watch import Doubt, notice
from dpaudit.sealed.callers import caller
from dpaudit.sealed.dependence import MOST_MOVES
from dpaudit.sealed.joint_bounds import FREE, joined_shares
from dpaudit.sealed.trace import SHAPE, Elements, Intervals, Precision, Private, Spread, shared_out
from dpaudit.sealed.traces.arithmetic import added, as_spread, multiply, rows_for
from dpaudit.sealed.traces.functions import Operand, exact_kind, operand

Move = Callable[[np.ndarray], np.ndarray]


def index(private: Private, where: Any) -> Private:
    """private[where]. Every place of the result is one place of the source, so the trace is indexed alike."""
    where = tuple(_settled(part) for part in where) if isinstance(where, tuple) else _settled(where)
    if private.hidden and not _always_there(private, where):
        notice(Doubt("indexing", caller()))
    try:
        value = private.value[where]
    except IndexError as error:
        missing = error.with_traceback(None)
    else:
        part = _indexed(private, where, value)
        source = private.multiple_of
        return part if source is None else part.times(_indexed(source[0], where, source[0].value[where]), source[1])
    raise Leak("its length", caller()) if private.hidden else missing  # whether a place exists tells how many records there are


def _always_there(private: Private, where: Any) -> bool:
    """Does the index fit however many records, or axes, there are?"""
    if where is ... or where is None:
        return True
    if not isinstance(private.trace, Elements):
        return False
    ndim = private.value.ndim
    return isinstance(where, slice) or _records_axis(where, ndim, ndim + private.trace.axis) is not None


def _indexed(private: Private, where: Any, value: Any) -> Private:
    if private.removal and isinstance(private.trace, Elements):
        axis = _records_axis(where, private.value.ndim, private.value.ndim + private.trace.axis)
        if axis is None:  # a removed record moves all later ones to other places, in and out of any slice but the whole
            return private.lost("indexing records that can be removed", value, hidden=SHAPE if np.ndim(value) else 0)
        return _moved_features(private, lambda array: array[where], value, axis)
    moved = _moved(private, lambda array: array[where], value)
    return private.lost("indexing", value) if moved is None else moved


def _settled(part: Any) -> Any:
    """An index as plain numbers, read once: value and trace are indexed by the same."""
    if part is None or part is ... or isinstance(part, bool):
        return part
    if isinstance(part, slice):
        return slice(*(None if end is None else operator.index(end) for end in (part.start, part.stop, part.step)))
    return operator.index(part) if np.ndim(part) == 0 and not isinstance(part, np.ndarray | np.bool_) else np.asarray(part)


def rearranged(function: Callable[..., Any], options: Sequence[str]) -> Callable[..., Private | None]:
    """The known operation for a numpy function of an array and public options that only moves or repeats its entries."""

    def operation(private: Any, *args: Any, **kwargs: Any) -> Private | None:
        plain = _settled_options(options, args, kwargs)
        if plain is None or not isinstance(private, Private) or (private.removal and isinstance(private.trace, Elements)):
            return None
        return _moved(private, lambda array: function(array, **plain), function(private.value, **plain))

    return operation


def _settled_options(options: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Public whole numbers by the names of their options, read once; None for any other option."""
    settings = {**dict(zip(options, args, strict=False)), **kwargs}
    if len(args) > len(options) or len(settings) < len(args) + len(kwargs) or not settings.keys() <= set(options):
        return None
    return {name: _whole_numbers(value) for name, value in settings.items()}


def _whole_numbers(value: Any) -> Any:
    """Raises TypeError for anything else, private values included."""
    if value is None:
        return None
    if isinstance(value, tuple | list | np.ndarray):
        return tuple(_whole_numbers(part) for part in value) if np.ndim(value) == 1 and len(value) < 64 else _indices(value)
    return operator.index(value)


def _indices(value: Any) -> np.ndarray:
    array = np.array(value)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError("indices are whole numbers")
    return array.astype(np.intp)


def transposed(private: Private, *axes: Any, **more: Any) -> Private | None:
    """np.transpose and x.T; the axis of the records goes along."""
    permutation = _whole_numbers(more.pop("axes", None) if not axes else axes[0] if len(axes) == 1 else axes)
    if more:
        return None
    value = np.transpose(private.value, permutation)
    if private.removal and isinstance(private.trace, Elements):
        order = [axis % value.ndim for axis in permutation] if permutation is not None else list(range(value.ndim))[::-1]
        axis = order.index(value.ndim + private.trace.axis) - value.ndim
        return _moved_features(private, lambda array: np.transpose(array, permutation), value, axis)
    return _moved(private, lambda array: np.transpose(array, permutation), value)


def _moved(private: Private, move: Move, value: np.ndarray) -> Private | None:
    """The trace of ``value``, whose entries are the source's in other places."""
    trace, shape = private.trace, private.value.shape
    if isinstance(trace, Elements):
        parts = (part if part.ndim == 0 else move(np.broadcast_to(part, shape)) for part in (trace.ids, trace.low, trace.high))
        ids, low, high = parts
        again = trace.facts.joint != FREE and _again(move, shape)
        return private.with_trace(value, Elements(ids, low, high, trace.nan, facts=trace.facts.moved(move, shape, again=again)))
    if isinstance(trace, Spread):
        sources = move(np.arange(private.value.size).reshape(shape))
        moves = trace.moves.reshape(len(trace.moves), private.value.size)[:, sources.ravel()]
        bounded = trace.places is not None or trace.joint != FREE
        again = bounded and len(np.unique(sources)) < sources.size  # one place may now be several
        places, joint = (None, FREE) if again else (trace.places, trace.joint)
        shares = None if trace.shares is None else trace.shares.moved(lambda part: move(np.broadcast_to(part, shape)))
        spread = Spread(trace.ids, moves.reshape(-1, *sources.shape), places, joint, shares)
        return private.with_trace(value, spread).signed(private.sign)
    if isinstance(trace, Intervals):
        return private.with_trace(value, Intervals(move(trace.start), move(trace.stop), trace.width))
    return None


def _again(move: Move, shape: tuple[int, ...]) -> bool:
    """Does an entry come to stand in several places?"""
    sources = move(np.arange(math.prod(shape)).reshape(shape))
    return len(np.unique(sources)) < sources.size


def _moved_features(private: Private, move: Move, value: np.ndarray, axis: int) -> Private:
    """The same for records that can be removed: bounds have length 1 along the axis of the records, which is now ``axis``."""
    trace, shape = private.trace, list(private.value.shape)
    assert isinstance(trace, Elements)
    shape[trace.axis] = 1
    low, high = (part if part.ndim == 0 else move(np.broadcast_to(part, shape)) for part in (trace.low, trace.high))
    facts = trace.facts.moved(move, tuple(shape), again=trace.facts.joint != FREE and _again(move, tuple(shape)))
    return private.with_trace(value, Elements(trace.ids, low, high, trace.nan, axis, facts=facts))


def _records_axis(where: Any, ndim: int, axis: int) -> int | None:
    """The axis of the records after indexing, counted from the end; None unless all of them stay in their places."""
    entries = list(where) if isinstance(where, tuple) else [where]
    if any(entry is not None and entry is not ... and not isinstance(entry, slice | int | np.integer) for entry in entries):
        return None
    gaps = [place for place, entry in enumerate(entries) if entry is ...] or [len(entries)]
    rest = ndim - sum(entry is not None and entry is not ... for entry in entries)
    entries[gaps[0] : gaps[0] + 1] = [slice(None)] * rest
    source, axes = 0, []
    for entry in entries:
        if entry is None:
            axes.append(-1)
            continue
        if source == axis and entry != slice(None):
            return None
        if isinstance(entry, slice):
            axes.append(source)
        source += 1
    return axes.index(axis) - len(axes)


def joined(function: Callable[..., Any], options: Sequence[str]) -> Callable[..., Private | None]:
    """The known operation for np.concatenate, np.stack and their kin: entries side by side, public ones among them."""

    def operation(arrays: Any, *args: Any, **kwargs: Any) -> Private | None:
        plain = _settled_options(options, args, kwargs)
        if plain is None or not isinstance(arrays, list | tuple):
            return None
        parts = [operand(array) for array in arrays]
        entries = [part for part in parts if part is not None and not part.removal]
        if len(entries) == len(arrays):
            return _join_entries(lambda many: function(many, **plain), entries)
        arrays = _with_constants(arrays)
        result = _join_moves(lambda many: function(many, **plain), arrays)
        sources = [array.multiple_of for array in arrays if isinstance(array, Private) and array.multiple_of is not None]
        if result is None or len(sources) < len(arrays) or len({weight for _, weight in sources}) != 1:
            return result
        return result.times(operation([source for source, _ in sources], *args, **kwargs), sources[0][1])

    return operation


def _with_constants(arrays: Sequence[Any]) -> Sequence[Any]:
    """Public numbers among sums as what is left of a sum that counts for nothing, moved to them: no record moves that."""
    first = next((array for array in arrays if isinstance(array, Private) and array.value.ndim == 0), None)
    nothing = None if first is None or not np.isfinite(first.value) else multiply(first, 0.0)
    if nothing is None:
        return arrays
    numbers = [type(array) in (int, float, np.int64, np.float64) and np.isfinite(array) for array in arrays]
    return [added(np.add)(nothing, array) if number else array for array, number in zip(arrays, numbers, strict=True)]


def _join_entries(join: Callable[[list[np.ndarray]], np.ndarray], parts: Sequence[Operand]) -> Private | None:
    def side_by_side(name: str) -> np.ndarray:
        return join([np.broadcast_to(getattr(part.trace, name), part.value.shape) for part in parts])

    trace = Elements(side_by_side("ids"), side_by_side("low"), side_by_side("high"), any(part.trace.nan for part in parts))
    precision = Precision(max(part.bits for part in parts), trace.size, max(part.slop for part in parts))
    value = join([part.value for part in parts])
    return Private(value, trace, precision, False) if exact_kind(value, trace.size) else None


def _join_moves(join: Callable[[list[np.ndarray]], np.ndarray], arrays: Sequence[Any]) -> Private | None:
    """Values of many records, such as sums, side by side: one row of moves per record."""
    traces = [as_spread(array) for array in arrays if isinstance(array, Private)]
    known = [trace for trace in traces if trace is not None]
    if len(known) < len(arrays) or len({array.removal for array in arrays}) != 1:
        return None
    ids = known[0].ids
    for trace in known[1:]:
        ids = ids if np.array_equal(ids, trace.ids) else np.union1d(ids, trace.ids)
    sizes = [array.value.size for array in arrays]
    if len(ids) * sum(sizes) > MOST_MOVES:
        return None
    starts = np.cumsum([0, *sizes[:-1]])
    order = join([np.arange(a.value.size).reshape(a.value.shape) + start for a, start in zip(arrays, starts, strict=True)])
    rows = [rows_for(trace, ids).reshape(-1, size) for trace, size in zip(known, sizes, strict=True)]
    deepest = max(len(row) for row in rows)
    moves = np.concatenate([np.broadcast_to(part, (deepest, part.shape[1])) for part in rows], axis=1)[:, order.ravel()]
    places = None if any(t.places is None for t in known) else sum(t.places or 0 for t in known)
    bits, size, slop = (max(getattr(array.precision, part) for array in arrays) for part in ("bits", "size", "slop"))
    joint = known[0].joint
    for part in known[1:]:
        joint = joint.beside(part.joint)
    trace = Spread(ids, moves.reshape(deepest, *order.shape), places, joint)
    shares = [one.shares for one in known if one.shares is not None]
    if len(shares) == len(known):
        shapes = [array.value.shape for array in arrays]
        trace = shared_out(trace, joined_shares(shares, shapes, order), removal=arrays[0].removal)
    value = join([array.value for array in arrays])
    sign = arrays[0].sign if len({array.sign for array in arrays}) == 1 else 0
    joined = Precision(bits, size, slop)
    return Private(value, trace, joined, arrays[0].removal).signed(sign) if exact_kind(value, size) else None
