"""Sealed data: arrays that carry how each value depends on each private record.

The door derives sensitivity and cohort from that trace, for every neighbouring pair at once. Turning sealed data into
plain numbers raises ``Leak`` (DPA002) at that line. An operation that is not known gives an *untraced* value: still sealed,
but its sensitivity can at best be tested by search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpaudit import sealed_operations as known
from dpaudit import untraced_calls
from dpaudit.claims import InvalidValue, Leak
from dpaudit.traces import (
    Dependence,
    Elements,
    Intervals,
    Precision,
    Private,
    Untraced,
    caller,
    dependence_of,
    snap,
)

__all__ = ["Dependence", "Sealed", "Untraced", "caller", "dependence", "one_record_each", "seal", "seal_sums", "snap", "unseal"]

_GRID_BITS = 20  # records lie on the grid 2^-20, so that sums of them are exact in float64


def seal(values: Any, low: float, high: float, *, first: int = 0, removal: bool = False) -> Sealed:
    """Seal a vector of records, one number each, in [low, high]. ``removal``: neighbours lack a record, so length is private."""
    snapped = snap(values, low, high)
    if snapped.ndim != 1:
        raise InvalidValue("values", f"an array of {snapped.ndim} dimensions", "one number per record (one dimension)")
    ends = snap(low, low, high), snap(high, low, high)
    if not removal:
        ends = np.full(len(snapped), ends[0]), np.full(len(snapped), ends[1])
    trace = Elements(first + np.arange(len(snapped)), *ends)
    return Sealed(Private(snapped, trace, Precision(_GRID_BITS, max(abs(low), abs(high))), removal))


def seal_sums(sums: np.ndarray, start: np.ndarray, stop: np.ndarray, width: float, size: float) -> Sealed:
    """Seal exact sums over the records start … stop−1 of each coordinate (``size`` bounds the sums)."""
    trace = Intervals(np.asarray(start), np.asarray(stop), width)
    return Sealed(Private(np.array(sums), trace, Precision(_GRID_BITS, size), False))


def unseal(sealed: Sealed) -> np.ndarray:
    """For the door alone: the plain value."""
    return sealed._private.value


def dependence(sealed: Sealed) -> Dependence | Untraced:
    """For the door: how far one record can move each coordinate, and whose records they are."""
    return dependence_of(sealed._private)


def one_record_each(sealed: Sealed) -> bool:
    """Does every value depend on one record of its own, as far as is known?"""
    return isinstance(sealed._private.trace, Elements | Untraced)


class Sealed(NDArrayOperatorsMixin):
    """A private array. Known operations keep the trace; nothing turns it back into numbers but the door."""

    __slots__ = ("_private",)

    def __init__(self, private: Private) -> None:
        self._private = private

    # What may be known: the layout, unless it depends on the data.
    @property
    def shape(self) -> tuple[int, ...]:
        if self._private.hidden:
            self._leak("its length")
        return self._private.value.shape

    @property
    def ndim(self) -> int:
        return self._private.value.ndim

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._private.value.dtype

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a sealed number")
        return self.shape[0]

    def __iter__(self) -> Iterator[Sealed]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return "<sealed private data>"

    def __format__(self, _: str) -> str:
        return repr(self)

    def copy(self, *_: Any) -> Sealed:
        return self  # nothing can change it

    __copy__ = __deepcopy__ = copy

    # What may not be known.
    def _leak(self, operation: str) -> NoReturn:
        raise Leak(operation, caller())

    def __bool__(self) -> bool:
        self._leak("a branch")

    def __int__(self) -> int:
        self._leak("int()")

    def __float__(self) -> float:
        self._leak("float()")

    def __complex__(self) -> complex:
        self._leak("complex()")

    def __round__(self, _: Any = None) -> int:
        self._leak("round()")

    def __index__(self) -> int:
        self._leak("an index")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        self._leak("conversion to a plain array")

    def __reduce_ex__(self, _: Any) -> NoReturn:
        self._leak("pickling")

    def item(self, *_: Any) -> NoReturn:
        self._leak("item()")

    def tolist(self) -> NoReturn:
        self._leak("tolist()")

    # What keeps the trace.
    def __getitem__(self, index: Any) -> Sealed:
        return Sealed(known.index(self._private, index))

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        return _known_or("sum", known.total, np.sum, (self, *args), kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        return _known_or("mean", known.average, np.mean, (self, *args), kwargs)

    def clip(self, *args: Any, **kwargs: Any) -> Any:
        return _known_or("clip", known.clip, np.clip, (self, *args), kwargs)

    def dot(self, weights: Any) -> Any:
        return _known_or("dot", known.dot, np.dot, (self, weights), {})

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if _same(kwargs.get("out"), inputs[0]):
            kwargs = {key: value for key, value in kwargs.items() if key != "out"}
        operation = _UFUNCS.get((ufunc, method)) if all(key == "axis" for key in kwargs) else None
        with np.errstate(all="ignore"):  # a warning would tell
            result = operation(*_privates(inputs), **kwargs) if operation else None
        if result is None:
            result = untraced_calls.call_ufunc(ufunc, method, _privates(inputs), _privates_of(kwargs))
        return _seal(result)

    def __array_function__(self, func: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.shape, np.ndim, np.size) and isinstance(args[0], Sealed) and len(args) == 1:
            return getattr(args[0], func.__name__)
        operation = _FUNCTIONS.get(func) if args else None
        if operation is not None and (isinstance(args[0], Sealed) or func is np.dot):
            return _known_or(func.__name__, operation, func, args, kwargs)
        return _seal(untraced_calls.call(f"numpy.{func.__name__}", func, _privates(args), _privates_of(kwargs)))

    def __getattr__(self, name: str) -> Any:
        """Any other attribute or method of an array: untraced, and sealed again."""
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"sealed data has no attribute {name!r}")
        private = self._private
        if not callable(getattr(np.ndarray, name)):
            return Sealed(private.lost(name, getattr(private.value, name)))

        def method(*args: Any, **kwargs: Any) -> Any:
            def apply(value: Any, *more: Any, **options: Any) -> Any:
                return getattr(value, name)(*more, **options)

            return _seal(untraced_calls.call(name, apply, (private, *_privates(args)), _privates_of(kwargs)))

        return method


def _same(out: Any, first: Any) -> bool:
    """``x += …`` asks for the result in x itself: it gets a new sealed value under the same name."""
    return isinstance(out, tuple) and len(out) == 1 and out[0] is first and isinstance(first, Sealed)


def _known_or(name: str, operation: Callable[..., Any], function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    opened, options = _privates(args), _privates_of(kwargs)
    with np.errstate(all="ignore"):
        result = operation(*opened, **options) if not any(isinstance(v, Private) for v in options.values()) else None
    return _seal(untraced_calls.call(name, function, opened, options) if result is None else result)


def _privates(values: Any) -> Any:
    """Sealed data, also in lists and tuples, as what is inside the seal."""
    if isinstance(values, Sealed):
        return values._private
    if isinstance(values, list | tuple):
        return type(values)(_privates(value) for value in values)
    return values


def _privates_of(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: _privates(value) for key, value in kwargs.items()}


def _seal(result: Any) -> Any:
    if isinstance(result, Private):
        return Sealed(result)
    return untraced_calls.rebuilt(result, [_seal(part) for part in result])


_UFUNCS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    (np.add, "__call__"): known.add,
    (np.subtract, "__call__"): lambda a, b: known.add(a, b, -1),
    (np.multiply, "__call__"): known.multiply,
    (np.true_divide, "__call__"): known.divide,
    (np.negative, "__call__"): lambda a: known.multiply(a, -1.0),
    (np.positive, "__call__"): lambda a: a,
    (np.matmul, "__call__"): known.matmul,
    (np.add, "reduce"): lambda a, axis=0: known.total(a, axis) if isinstance(a, Private) else None,
}
_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: known.total,
    np.mean: known.average,
    np.clip: known.clip,
    np.dot: known.dot,
}
