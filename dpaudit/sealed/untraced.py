"""Operations that no trace knows: run on the plain values, their result stays sealed, and nothing else gets hold of them.

Neither does anybody learn from an error whether it came: it is a leak, and a call that could fail on other data is noticed.
"""

from __future__ import annotations

import numbers
import operator
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.claims.errors import bare
from dpaudit.claims.leak_watch import Doubt, notice
from dpaudit.sealed.callers import caller
from dpaudit.sealed.trace import Private
from dpaudit.sealed.traces import shapes

# Operations that write or print what they are given.
_WRITERS = "array2string array_repr array_str dump dumps save savetxt savez savez_compressed tobytes tofile tostring"
WRITERS = frozenset(_WRITERS.split())
_TYPES = {bool, int, float, complex, *np.sctypeDict.values()} - {np.object_}
_EXACT = (bool, int, float, complex, str, bytes, range, type(None), type(...), type(np._NoValue))

Call = Callable[..., Any]


def call(name: str, function: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``function``; arguments may be, or hold, ``Private``. The result is Private, or a tuple or list of them.

    Raises Leak where the operation would hand plain values to a file, an array, a function or another Python object, and where
    it fails, unless it would fail alike on any data.
    """
    short = name.rpartition(".")[2]
    if short in WRITERS:
        raise Leak(f"{name}()", caller())
    sources = list(_privates([*args, *kwargs.values()]))
    if not sources:
        raise TypeError(f"{name} found no array in its arguments, though sealed data is among them")
    before = max(source.hidden for source in sources)
    hidden = shapes.hidden(short, args, kwargs, before)
    result = _run(name, function, args, kwargs, sources, hidden, fallible=shapes.may_fail(short, args, kwargs, before))
    if isinstance(result, tuple | list) and shapes.parts_tell(args, kwargs, hidden):
        raise Leak("the number of its parts", caller())
    return result


def call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same for a universal function, whose result has a shape that depends on no value."""
    if _calls_python(ufunc):
        raise Leak("a Python function", caller())
    if method == "at":
        raise Leak("writing it into an array", caller())
    sources = list(_privates([*args, *kwargs.values()]))
    before = max(source.hidden for source in sources)
    fallible = shapes.ufunc_may_fail(ufunc, method, args, kwargs, before)
    hidden = shapes.ufunc_hidden(kwargs, before)
    return _run(f"numpy.{ufunc.__name__}", getattr(ufunc, method), args, kwargs, sources, hidden, fallible=fallible)


@bare
def _run(
    name: str, function: Call, args: Any, kwargs: dict[str, Any], sources: list[Private], hidden: int, *, fallible: bool
) -> Any:
    if any(part is not None for part in _flat(kwargs.get("out"))):
        raise Leak("an output array", caller())
    opened, options = _opened(args), _opened(kwargs)
    if fallible:
        notice(Doubt(name, caller()))
    result, failed = _tried(function, opened, options)
    if failed is None:
        return _sealed_result(name, result, sources, hidden)
    if isinstance(failed, ValueError) and "read-only" in str(failed):
        raise Leak("writing it into an array", caller())
    same = None if fallible else _same_for_all(function, args, kwargs, failed)
    if same is not None:
        raise same
    raise Leak(f"an error in {name}, which may depend on it,", caller())


def _tried(function: Call, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Exception | None]:
    """The result, or the error. An error that is raised later, outside, has no context that would show it."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # a warning would tell
            return function(*args, **kwargs), None
    except Exception as error:
        return None, error.with_traceback(None)


def _same_for_all(function: Call, args: Any, kwargs: dict[str, Any], failed: Exception) -> Exception | None:
    """The error of a call that cannot fail because of a value, as it comes from made-up data of the same shapes."""
    zeros, ones = (_tried(function, _opened(args, fill), _opened(kwargs, fill))[1] for fill in (0, 1))
    alike = type(zeros) is type(ones) is type(failed) and str(zeros) == str(ones)
    return zeros if alike else None


def _sealed_result(name: str, result: Any, sources: list[Private], hidden: int) -> Any:
    if isinstance(result, tuple | list):
        return rebuilt(result, [_sealed_result(name, part, sources, hidden) for part in result])
    value = np.asarray(result)
    if value.dtype.hasobject:
        raise Leak("Python objects", caller())
    first = next((source for source in sources if source.hidden), sources[0])
    return first.lost(name, value, hidden=hidden)


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


def _calls_python(ufunc: np.ufunc) -> bool:
    """Was it made of a Python function? Such a one knows objects only."""
    return all(set(kind.replace("->", "")) <= {"O"} for kind in ufunc.types)


def _opened(value: Any, fill: int | None = None) -> Any:
    """The plain value of private data, or made-up data in its place; all else in a form that cannot pass on what it sees."""
    if isinstance(value, Private):
        return value.value.view() if fill is None else np.full_like(value.value, fill)
    if isinstance(value, list):
        return [_opened(part, fill) for part in value]
    if isinstance(value, tuple):
        return tuple(_opened(part, fill) for part in value)
    if isinstance(value, dict):
        return {str(key): _opened(part, fill) for key, part in value.items()}
    if isinstance(value, slice):
        return slice(*(None if end is None else operator.index(end) for end in (value.start, value.stop, value.step)))
    if type(value) in _EXACT or type(value) in _TYPES:
        return value
    if isinstance(value, type | np.dtype) or callable(value):
        return _known_callable(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, numbers.Number) and not isinstance(value, np.generic):
        return operator.index(value) if hasattr(value, "__index__") else float(value)  # type: ignore[arg-type]
    array = np.asarray(value).view()
    if array.dtype.hasobject:
        raise Leak("Python objects", caller())
    array.flags.writeable = False
    return array


def _known_callable(value: Any) -> Any:
    """Types of numbers, and those of numpy's own functions that give what they are shown to nobody."""
    if isinstance(value, np.dtype) and not value.hasobject:
        return value
    if any(value is kind for kind in _TYPES):
        return value
    own = getattr(np, getattr(value, "__name__", ""), None) is value
    if isinstance(value, np.ufunc) and own and not _calls_python(value):
        return value
    if own and value.__name__ in shapes.SHAPED:
        return value
    raise Leak("a Python function", caller())
