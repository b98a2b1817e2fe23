"""Operations that no trace knows: run on the plain values, their result stays sealed, and nothing else gets hold of them."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.sealed.traces import Private, caller

# Operations that write or print what they are given.
_WRITERS = "array2string array_repr array_str dump dumps save savetxt savez savez_compressed tobytes tofile tostring"
# Functions and methods whose result has a shape that follows from the shapes of its arguments alone …
_STATIC = """abs all amax amin angle any argmax argmin argpartition argsort around array_split astype average cov cross cummax
    cumprod cumsum diag diagonal diff digitize dot ediff1d einsum expand_dims fix flatten flip fliplr flipud gradient hsplit imag
    inner isclose kron max mean median min nan_to_num nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd
    nansum nanvar norm ones_like outer partition percentile prod ptp quantile ravel real repeat reshape roll rot90 round sort
    split squeeze std sum swapaxes tensordot tile trace transpose tri tril triu unwrap var vdot vsplit zeros_like"""
# … whichever of the arguments is private; for the others, a private second argument may be a shape or a number of places.
_MANY = """append column_stack concatenate cov cross dot dstack einsum hstack inner interp isclose kron outer searchsorted stack
    tensordot vdot vstack where"""
WRITERS, STATIC, MANY = (frozenset(names.split()) for names in (_WRITERS, _STATIC, _MANY))
_PLAIN = (bool, int, float, complex, str, bytes, slice, range, type, np.dtype, np.generic, type(None), type(...))
_DATA_DEPENDENT = (np.linalg.LinAlgError, FloatingPointError, ZeroDivisionError, OverflowError, IndexError)


def call(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, static: bool = False) -> Any:
    """Run ``function``; arguments may be, or hold, ``Private``. The result is Private, or a tuple or list of them.

    ``static``: the shape of the result depends on no value.
    Raises Leak where the operation would hand plain values to a file, an array, a function or another Python object.
    """
    sources = list(_privates([*args, *kwargs.values()]))
    if _short(name) in WRITERS:
        raise Leak(f"{name}()", caller())
    if any(part is not None for part in _flat(kwargs.get("out"))):
        raise Leak("an output array", caller())
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # a warning would tell
            result = function(*(_opened(a) for a in args), **{key: _opened(a) for key, a in kwargs.items()})
    except np.exceptions.AxisError:
        raise
    except _DATA_DEPENDENT:
        raise Leak("an error that depends on it", caller()) from None
    except ValueError as error:
        if "read-only" in str(error):
            raise Leak("writing it into an array", caller()) from None
        if any(source.hidden for source in sources):
            raise Leak("an error that depends on its length", caller()) from None
        raise
    return _sealed_result(name, result, sources, hidden=not (static or _static_shape(_short(name), args, kwargs)))


def call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same for a universal function, whose result has a shape that depends on no value."""
    if all(set(kind.replace("->", "")) <= {"O"} for kind in ufunc.types):
        raise Leak("a Python function", caller())
    if method == "at":
        raise Leak("writing it into an array", caller())
    return call(f"numpy.{ufunc.__name__}", getattr(ufunc, method), args, kwargs, static=True)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _static_shape(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if name == "where":
        return len(args) == 3
    if name == "bincount":
        return not isinstance(args[0], Private)
    if name == "histogram":  # by name, the number of bins is chosen from the data
        return not any(isinstance(value, str) for value in (*args, *kwargs.values()))
    return name in MANY or (name in STATIC and not any(True for _ in _privates([*args[1:], *kwargs.values()])))


def _sealed_result(name: str, result: Any, sources: list[Private], *, hidden: bool) -> Any:
    if isinstance(result, tuple | list):
        return rebuilt(result, [_sealed_result(name, part, sources, hidden=hidden) for part in result])
    first = next((source for source in sources if source.hidden), sources[0])
    return first.lost(name, result, hidden=hidden)


def rebuilt(original: Any, parts: list[Any]) -> Any:
    """Other parts in the same kind of list or tuple, named ones included."""
    kind: Any = type(original)
    return kind._make(parts) if hasattr(kind, "_make") else kind(parts)


def _privates(values: Iterable[Any]) -> Iterable[Private]:
    for value in values:
        if isinstance(value, Private):
            yield value
        elif isinstance(value, list | tuple):
            yield from _privates(value)


def _flat(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _opened(value: Any) -> Any:
    """The plain value of private data; everything else in a form that cannot keep or pass on what it sees."""
    if isinstance(value, Private):
        return value.value
    if isinstance(value, list | tuple):
        return type(value)(_opened(part) for part in value)
    if isinstance(value, dict):
        return {key: _opened(part) for key, part in value.items()}
    if isinstance(value, _PLAIN) or value is getattr(np, "_NoValue", None):
        return value
    if isinstance(value, numbers.Number):
        return float(value)  # type: ignore[arg-type]
    if callable(value):
        if getattr(value, "__module__", "").partition(".")[0] == "numpy":
            return value
        raise Leak("a Python function", caller())
    array = np.asarray(value).view()
    if array.dtype.kind == "O":
        raise Leak("Python objects", caller())
    array.flags.writeable = False
    return array
