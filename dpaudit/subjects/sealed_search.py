"""Searches whatever a subject hands back for sealed data: in containers, attributes, closures, frames and objects written in C.

No code of the objects is run on the way: no property, no ``__iter__``, no ``__eq__``. What makes its values only when it is asked
(generators, coroutines, iterators) cannot be searched, and counts as holding private data.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import gc
import types
import uuid
import weakref
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from dpaudit.channel import Channel
from dpaudit.claims import Leak
from dpaudit.sealed.array import Sealed
from dpaudit.sealed.trace import Private

_PLAIN: tuple[type, ...] = (
    type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, type(...), type(NotImplemented),
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID,
)  # fmt: skip
_LATE = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_SHARED = (Channel, types.ModuleType, types.CodeType, np.generic, np.dtype, PurePath, enum.Enum)  # hold no data of a run


def refuse_sealed(returned: Any, where: str, private: Sequence[Any] = ()) -> None:
    """Raise Leak (DPA002) where ``returned`` holds sealed data, or any object of ``private``, or may hold it.

    ``where``: the subject's name, for the message. Nothing of the data is told.
    """
    place = find_sealed(returned, private)
    if place is not None:
        raise Leak(place, where)


def find_sealed(returned: Any, private: Sequence[Any] = ()) -> str | None:
    """How sealed data is held by a returned value, in words for a person; None where nothing of it is."""
    forbidden = {id(one) for one in private}
    known: set[int] = set()
    held: list[Any] = [returned]  # what was looked at stays alive, so that no id is used twice
    for value in held:
        if type(value) in _PLAIN or id(value) in known:
            continue
        known.add(id(value))
        if isinstance(value, Sealed | Private) or id(value) in forbidden:
            return "the returned value" if value is returned else f"the returned value, which is {_kind(returned)} that holds it"
        late = _late(value)
        if late:
            return f"{late}: what it will give cannot be searched, so return its values instead; the returned value"
        held.extend(_parts(value))
    return None


def sealed_within(value: Any) -> set[int]:
    """The ids of all sealed values that an object holds; those that are still to be computed are not waited for."""
    known: set[int] = set()
    held: list[Any] = [value]
    for one in held:
        if type(one) not in _PLAIN and id(one) not in known:
            known.add(id(one))
            held.extend(_parts(one))
    return {id(one) for one in held if isinstance(one, Sealed)}


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _late(value: Any) -> str:
    """A value that is still to be computed, in words; empty for others."""
    if isinstance(value, types.CoroutineType):
        value.close()  # nobody will await it
    if isinstance(value, _LATE):
        return _kind(value)
    lazy = hasattr(type(value), "__next__") or hasattr(type(value), "__await__")
    return _kind(value) if lazy else ""


def _parts(value: Any) -> Iterator[Any]:
    """All that an object holds, as far as whoever has it can reach it: what the garbage collector would follow, without the
    classes and modules that everybody shares."""
    if isinstance(value, _SHARED):
        return
    if isinstance(value, type):
        yield from vars(value).values() if _is_local(value) else ()
        return
    if isinstance(value, np.ndarray):
        yield from _array_parts(value)
    elif isinstance(value, types.FunctionType):
        yield from _function_parts(value)
    elif isinstance(value, types.FrameType):
        yield from value.f_locals.values()
    elif isinstance(value, weakref.ref):
        yield value()
    else:
        yield from gc.get_referents(value)
    if _is_local(type(value)):
        yield type(value)


def _array_parts(array: np.ndarray) -> Iterator[Any]:
    if array.dtype.hasobject:
        yield from np.ndarray.ravel(array).tolist()
    yield array.base
    yield getattr(array, "__dict__", None)


def _function_parts(function: types.FunctionType) -> Iterator[Any]:
    """Closure, defaults, attributes, and the globals that its code names."""
    yield from (function.__closure__, function.__defaults__, function.__kwdefaults__, function.__dict__)
    yield from (function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__)


def _is_local(kind: type) -> bool:
    """Was this class made inside a function? Then its methods may hold what that function knew."""
    return "<locals>" in kind.__qualname__
