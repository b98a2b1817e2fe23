"""Sealed data: arrays that carry how each value depends on each private record.

The door derives sensitivity and cohort from that trace, for every neighbouring pair at once. Turning sealed data into
plain numbers raises ``Leak`` (DPA002) at that line. An operation that is not known gives an *untraced* value: still sealed,
but its sensitivity can at best be tested by search.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpaudit.claims import InvalidValue, Leak
from dpaudit.noise import GRID

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_GRID_BITS = 20  # records lie on the grid 2^-20, so that sums of them are exact in float64


@dataclass(frozen=True)
class Elements:
    """Entry j of a vector depends on record ids[j] alone and lies in [low[j], high[j]]."""

    ids: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Spread:
    """Changing record ids[j] moves coordinate c by at most moves[j, c]."""

    ids: np.ndarray
    moves: np.ndarray


@dataclass(frozen=True)
class Intervals:
    """Coordinate c depends on the records start[c] … stop[c]−1; each moves it by at most ``width``."""

    start: np.ndarray
    stop: np.ndarray
    width: float


@dataclass(frozen=True)
class Untraced:
    """The dependence was lost in ``operation`` at ``where``."""

    operation: str
    where: str


@dataclass(frozen=True)
class Precision:
    """The value is a multiple of 2^-bits and at most ``size`` in magnitude, up to an error of ``slop``."""

    bits: int
    size: float
    slop: float = 0.0

    def combine(self, bits: int, size: float, terms: int) -> Precision:
        """After an operation with ``terms`` rounded additions; exact while everything fits into 53 bits."""
        if self.slop == 0.0 and size * 2.0**bits < 2.0**53:
            return Precision(bits, size)
        return Precision(bits, size, self.slop * max(1.0, size / max(self.size, 1e-300)) + terms * 2.0**-52 * size)


Trace = Elements | Spread | Intervals | Untraced


@dataclass(frozen=True)
class Dependence:
    """What the door needs to know: per-record moves of each coordinate, and who is touched."""

    moves: np.ndarray  # (records or classes of records, coordinates)
    cohort: Any  # range, list of ranges or list of ids; None for everybody
    slop: float


def caller() -> str:
    """Where in the user's code we are: the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE) or "numpy" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def snap(values: Any, low: float, high: float) -> np.ndarray:
    """Clip to the bounds, snapped inward to the grid, and round to it; NaN becomes the lower bound."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidValue("low, high", (low, high), "finite and in order")
    scale = float(1 / GRID)
    first, last = math.ceil(low * scale), math.floor(high * scale)
    raw = np.asarray(values, dtype=float)
    units = np.floor(np.where(np.isnan(raw), low, raw) * scale + 0.5)
    snapped: np.ndarray = np.clip(units, first, last) / scale
    return snapped


def seal(values: Any, low: float, high: float, *, first: int = 0, removal: bool = False) -> Sealed:
    """Seal a vector of records, one number each, in [low, high]. ``removal``: neighbours lack a record, so length is private."""
    snapped = snap(values, low, high)
    if snapped.ndim != 1:
        raise InvalidValue("values", f"an array of {snapped.ndim} dimensions", "one number per record (one dimension)")
    n = len(snapped)
    trace = Elements(first + np.arange(n), np.full(n, snap(low, low, high)), np.full(n, snap(high, low, high)))
    return Sealed(snapped, trace, Precision(_GRID_BITS, max(abs(low), abs(high))), removal)


def seal_sums(sums: np.ndarray, start: np.ndarray, stop: np.ndarray, width: float, size: float) -> Sealed:
    """Seal exact sums over intervals of records, each record in one interval at most (``size`` bounds the sums)."""
    return Sealed(sums, Intervals(np.asarray(start), np.asarray(stop), width), Precision(_GRID_BITS, size), False)


class Sealed(NDArrayOperatorsMixin):
    """A private array. Known operations keep the trace; nothing turns it back into numbers but the door."""

    __slots__ = ("_precision", "_removal", "_trace", "_value")

    def __init__(self, value: Any, trace: Trace, precision: Precision, removal: bool) -> None:
        self._value = np.asarray(value)
        self._trace, self._precision, self._removal = trace, precision, removal

    # What may be known: the layout, unless neighbours differ in length.
    @property
    def shape(self) -> tuple[int, ...]:
        if self._removal and isinstance(self._trace, Elements):
            self._leak("its length")
        return self._value.shape

    @property
    def ndim(self) -> int:
        return self._value.ndim

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._value.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Sealed]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return "<sealed private data>"

    # What may not be known.
    def _leak(self, operation: str, *_: Any) -> NoReturn:
        raise Leak(operation, caller())

    def __bool__(self) -> bool:
        self._leak("a branch")

    def __int__(self) -> int:
        self._leak("int()")

    def __float__(self) -> float:
        self._leak("float()")

    def __complex__(self) -> complex:
        self._leak("complex()")

    def __index__(self) -> int:
        self._leak("an index")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        self._leak("conversion to a plain array")

    def __format__(self, _: str) -> str:
        return repr(self)

    def __reduce_ex__(self, _: Any) -> NoReturn:
        self._leak("pickling")

    def item(self, *_: Any) -> NoReturn:
        self._leak("item()")

    def tolist(self) -> NoReturn:
        self._leak("tolist()")

    # What keeps the trace.
    def __getitem__(self, index: Any) -> Sealed:
        value = self._value[index]
        trace = self._trace
        if isinstance(trace, Elements):
            if np.ndim(value) == 1:
                return replace_trace(self, value, Elements(trace.ids[index], trace.low[index], trace.high[index]))
            if np.ndim(value) == 0 and not self._removal:
                width = trace.high[index] - trace.low[index]
                return replace_trace(self, value, Spread(trace.ids[index].reshape(1), np.array([width])))
        elif isinstance(trace, Spread):
            return replace_trace(self, value, Spread(trace.ids, trace.moves[(slice(None), *_as_tuple(index))]))
        elif isinstance(trace, Intervals):
            return replace_trace(self, value, Intervals(trace.start[index], trace.stop[index], trace.width))
        return self._lost("indexing", value)

    def sum(self, axis: Any = None, **_: Any) -> Sealed:
        if isinstance(self._trace, Elements) and axis in (None, 0, -1):
            terms = len(self._value)
            bound = self._precision.combine(self._precision.bits, self._precision.size * max(terms, 1), terms)
            moves = _widths(self._trace, self._removal)
            return Sealed(self._value.sum(), Spread(self._trace.ids, moves), bound, self._removal)
        if isinstance(self._trace, Spread) and axis is None:
            terms = max(self._value.size, 1)
            bound = self._precision.combine(self._precision.bits, self._precision.size * terms, terms)
            moves = self._trace.moves.reshape(len(self._trace.ids), -1).sum(axis=1)
            return Sealed(self._value.sum(), Spread(self._trace.ids, moves), bound, self._removal)
        return self._lost("sum", self._value.sum(axis=axis))

    def mean(self, axis: Any = None, **_: Any) -> Sealed:
        if self._removal and isinstance(self._trace, Elements):
            return self._lost("mean over a private number of records", self._value.mean() if len(self._value) else 0.0)
        return self.sum(axis=axis) / self._value.size

    def clip(self, low: Any = None, high: Any = None, **_: Any) -> Sealed:
        clipped = np.clip(self._value, low, high)
        if not isinstance(self._trace, Elements) or not _public(low) or not _public(high):
            return self._lost("clip", clipped)
        trace = replace(self._trace, low=np.clip(self._trace.low, low, high), high=np.clip(self._trace.high, low, high))
        bits = max(self._precision.bits, *(_bits(v) for v in (low, high) if v is not None))
        return Sealed(clipped, trace, self._precision.combine(bits, self._precision.size, 1), self._removal)

    def dot(self, weights: Any) -> Sealed:
        return _matmul_right(self, weights)

    def copy(self) -> Sealed:
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "reduce" and ufunc is np.add:
            return self.sum(axis=kwargs.get("axis", 0))
        known = _UFUNCS.get(ufunc) if method == "__call__" and not kwargs else None
        result = known(*inputs) if known else None
        return _untraced_call(f"numpy.{ufunc.__name__}", getattr(ufunc, method), inputs, kwargs) if result is None else result

    def __array_function__(self, func: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        known = _FUNCTIONS.get(func)
        if known is not None and isinstance(args[0], Sealed):
            return known(*args, **kwargs)
        if func is np.dot and len(args) == 2:
            return _matmul_left(args[0], args[1])
        if func in (np.shape, np.ndim, np.size):
            return getattr(args[0], func.__name__)
        return _untraced_call(f"numpy.{func.__name__}", func, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"sealed data has no attribute {name!r}")
        attribute = getattr(self._value, name)
        if not callable(attribute):
            return self._lost(name, attribute)
        return lambda *args, **kwargs: _untraced_call(name, lambda _, *a, **k: attribute(*a, **k), (self, *args), kwargs)

    def _lost(self, operation: str, value: Any) -> Sealed:
        trace = self._trace if isinstance(self._trace, Untraced) else Untraced(operation, caller())
        return Sealed(value, trace, self._precision, self._removal)


def replace_trace(source: Sealed, value: Any, trace: Trace) -> Sealed:
    return Sealed(value, trace, source._precision, source._removal)


def unseal(sealed: Sealed) -> np.ndarray:
    """For the door alone: the plain value."""
    return sealed._value


def dependence(sealed: Sealed) -> Dependence | Untraced:
    """For the door: how far one record can move each coordinate, and whose records they are."""
    trace, slop = sealed._trace, sealed._precision.slop
    if isinstance(trace, Untraced):
        return trace
    if isinstance(trace, Intervals):
        return _interval_dependence(trace, slop)
    if isinstance(trace, Elements):
        # One value per record: a neighbour moves one coordinate (replacement) and, by removal, all the later ones.
        if sealed._removal:
            return Untraced("releasing records whose number is private", caller())
        width = trace.high - trace.low
        return Dependence(np.array([[width.max(initial=0.0)]]), trace.ids, slop)
    moves = trace.moves.reshape(len(trace.ids), -1)
    used = moves.any(axis=1)
    return Dependence(moves[used], None if sealed._removal else trace.ids[used], slop)


def _interval_dependence(trace: Intervals, slop: float) -> Dependence:
    """Intervals that do not overlap: each record moves one coordinate. Where they overlap, its moves add up."""
    start, stop = trace.start.ravel(), trace.stop.ravel()
    keep = stop > start
    start, stop = start[keep], stop[keep]
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    events = np.concatenate([start, stop])
    steps = np.concatenate([np.ones(len(start), int), -np.ones(len(stop), int)])
    order = np.lexsort((steps, events))
    deepest = int(np.cumsum(steps[order]).max(initial=0))
    ranges = [range(int(a), int(b)) for a, b in zip(start, stop, strict=True)]
    return Dependence(np.full((1, max(deepest, 1)), trace.width), ranges, slop)


def _widths(trace: Elements, removal: bool) -> np.ndarray:
    """How much one record's entry can move a sum: its range, or its magnitude when it can be absent."""
    if removal:
        return np.maximum(np.abs(trace.low), np.abs(trace.high))
    width: np.ndarray = trace.high - trace.low
    return width


def _public(value: Any) -> bool:
    return not isinstance(value, Sealed)


def _as_tuple(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _bits(value: Any) -> int:
    """The b for which every entry is a multiple of 2^-b (at most 1100)."""
    array = np.asarray(value, dtype=float).ravel()
    mantissa, exponent = np.frexp(array[(array != 0) & np.isfinite(array)])
    if not len(mantissa):
        return 0
    integer = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    trailing = np.log2((integer & -integer).astype(float)).astype(int)
    return int(max(0, np.max(53 - trailing - exponent)))


def _untraced_call(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run an unknown operation on the plain values; its result stays sealed, its dependence is lost."""
    sealed = [a for a in args if isinstance(a, Sealed)] + [a for a in kwargs.values() if isinstance(a, Sealed)]
    plain = tuple(_open_nested(a) for a in args)
    result = function(*plain, **{k: _open_nested(v) for k, v in kwargs.items()})
    first = sealed[0] if sealed else _first_sealed(args)
    if isinstance(result, tuple):
        return tuple(first._lost(name, part) for part in result)
    return first._lost(name, result)


def _open_nested(value: Any) -> Any:
    if isinstance(value, Sealed):
        return value._value
    if isinstance(value, list | tuple):
        return type(value)(_open_nested(v) for v in value)
    return value


def _first_sealed(args: Any) -> Sealed:
    for value in args:
        if isinstance(value, Sealed):
            return value
        if isinstance(value, list | tuple):
            return _first_sealed(value)
    raise Leak("an operation on hidden sealed data", caller())


def _add(a: Any, b: Any, sign: int = 1) -> Sealed | None:
    """a + sign·b, where one of them may be public."""
    operate = np.add if sign > 0 else np.subtract
    if isinstance(a, Sealed) and isinstance(b, Sealed):
        return _add_sealed(a, b, operate)
    sealed, public = (a, b) if isinstance(a, Sealed) else (b, a)
    value = operate(a._value, b) if isinstance(a, Sealed) else operate(a, b._value)
    if value.shape != sealed._value.shape or isinstance(sealed._trace, Untraced):
        return sealed._lost("broadcasting", value)
    size = sealed._precision.size + float(np.max(np.abs(public), initial=0.0))
    bound = sealed._precision.combine(max(sealed._precision.bits, _bits(public)), size, 1)
    trace = sealed._trace
    if isinstance(trace, Elements):
        if isinstance(a, Sealed):
            trace = replace(trace, low=operate(trace.low, b), high=operate(trace.high, b))
        else:
            ends = operate(a, trace.low), operate(a, trace.high)
            trace = replace(trace, low=np.minimum(*ends), high=np.maximum(*ends))
    return Sealed(value, trace, bound, sealed._removal)


def _add_sealed(a: Sealed, b: Sealed, operate: np.ufunc) -> Sealed | None:
    left, right = _as_spread(a), _as_spread(b)
    value = operate(a._value, b._value)
    if left is None or right is None or a._value.shape != b._value.shape:
        return None
    ids = np.union1d(left.ids, right.ids)
    moves = np.zeros((len(ids), *value.shape))
    np.add.at(moves, np.searchsorted(ids, left.ids), left.moves)  # triangle inequality
    np.add.at(moves, np.searchsorted(ids, right.ids), right.moves)
    size = a._precision.size + b._precision.size
    base = Precision(max(a._precision.bits, b._precision.bits), size, a._precision.slop + b._precision.slop)
    return Sealed(value, Spread(ids, moves), base.combine(base.bits, size, 1), a._removal)


def _as_spread(sealed: Sealed) -> Spread | None:
    if isinstance(sealed._trace, Elements) and not sealed._removal and len(sealed._trace.ids) <= 4096:
        return Spread(sealed._trace.ids, np.diag(sealed._trace.high - sealed._trace.low))
    return sealed._trace if isinstance(sealed._trace, Spread) else None


def _multiply(a: Any, b: Any) -> Sealed | None:
    if isinstance(a, Sealed) and isinstance(b, Sealed):
        return None
    sealed, factor = (a, b) if isinstance(a, Sealed) else (b, a)
    weights = np.asarray(factor, dtype=float)
    value = sealed._value * weights
    trace = sealed._trace
    if isinstance(trace, Untraced | Intervals) or value.shape != sealed._value.shape or not np.isfinite(weights).all():
        return None
    largest = float(np.max(np.abs(weights), initial=0.0))
    bound = sealed._precision.combine(sealed._precision.bits + _bits(weights), sealed._precision.size * largest, 1)
    if isinstance(trace, Elements):
        ends = trace.low * weights, trace.high * weights
        return Sealed(value, replace(trace, low=np.minimum(*ends), high=np.maximum(*ends)), bound, sealed._removal)
    return Sealed(value, Spread(trace.ids, trace.moves * np.abs(weights)), bound, sealed._removal)


def _divide(a: Any, b: Any) -> Sealed | None:
    if not isinstance(a, Sealed) or isinstance(b, Sealed):
        return None
    divisor = np.asarray(b, dtype=float)
    if not divisor.all() or not np.isfinite(divisor).all():
        return None
    powers_of_two = bool((np.abs(np.frexp(divisor)[0]) == 0.5).all())
    result = _multiply(a, 1.0 / divisor)
    if result is None or powers_of_two:
        return result
    rounded = replace(result._precision, slop=result._precision.slop + 2.0**-51 * result._precision.size)
    return Sealed(a._value / divisor, result._trace, rounded, a._removal)


def _matmul_left(matrix: Any, sealed: Any) -> Any:
    """matrix @ records with public weights: coordinate c moves by |w_cj|·width_j."""
    if isinstance(matrix, Sealed) or not isinstance(sealed, Sealed) or not isinstance(sealed._trace, Elements) or sealed._removal:
        return _untraced_call("matmul", np.matmul, (matrix, sealed), {})
    weights = np.asarray(matrix, dtype=float)
    if sealed._value.ndim != 1 or weights.ndim > 2:
        return _untraced_call("matmul", np.matmul, (matrix, sealed), {})
    moves = np.abs(weights).T * _widths(sealed._trace, False).reshape(-1, *([1] * (weights.ndim - 1)))
    terms = len(sealed._value)
    size = sealed._precision.size * float(np.abs(weights).sum(axis=-1).max(initial=0.0))
    bound = sealed._precision.combine(sealed._precision.bits + _bits(weights), size, terms)
    return Sealed(weights @ sealed._value, Spread(sealed._trace.ids, moves), bound, False)


def _matmul_right(sealed: Sealed, matrix: Any) -> Any:
    return _matmul_left(matrix if isinstance(matrix, Sealed) else np.asarray(matrix, dtype=float).T, sealed)


def _matmul(a: Any, b: Any) -> Any:
    return _matmul_right(a, b) if isinstance(a, Sealed) else _matmul_left(a, b)


_UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _add,
    np.subtract: lambda a, b: _add(a, b, -1),
    np.multiply: _multiply,
    np.true_divide: _divide,
    np.negative: lambda a: _multiply(a, -1.0),
    np.positive: lambda a: a,
    np.matmul: _matmul,
}
_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: Sealed.sum,
    np.mean: Sealed.mean,
    np.clip: Sealed.clip,
}
