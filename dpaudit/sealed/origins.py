"""Which arrays are equal because they were computed alike from the same sealed data: no value is looked at.

Masks that are made one by one, such as ``x[:, 0] == k`` in a loop, are about the same values only by this.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

_LONGEST = 2**16  # bytes of a public array that takes part in an identity


class Origin:
    """The identity of an array. Two of one identity were computed alike from the same sealed data, so that they are equal.

    ``values`` is the same for arrays that differ in axes of length 1 alone.
    """

    __slots__ = ("__weakref__", "values")

    def __init__(self, values: Origin | None = None) -> None:
        self.values: Origin = self if values is None else values


_origins: WeakValueDictionary[Hashable, Origin] = WeakValueDictionary()


class _Unnamed(Exception):
    """An operand that has no identity."""


def origin_of(operation: Hashable, operands: Any, options: Any = None) -> Origin:
    """The identity of what an operation gives; the same one again for equal operands, as long as anybody holds it."""
    try:
        parts = (operation, _part(operands), _part(options))
    except _Unnamed:
        return Origin()
    return _origins.setdefault(parts, Origin())


def origin_of_part(source: Origin, index: Any) -> Origin:
    """The identity of array[index]; new axes alone leave the values of each record as they are."""
    entries = index if isinstance(index, tuple) else (index,)
    if all(entry is None or entry is ... or (isinstance(entry, slice) and entry == slice(None)) for entry in entries):
        return Origin(source.values)
    return origin_of("index", (source, index))


def _part(value: Any) -> Hashable:
    if isinstance(value, Origin):
        return value
    if isinstance(value, list | tuple):
        return (type(value).__name__, *(_part(one) for one in value))
    if isinstance(value, dict):
        return tuple((key, _part(value[key])) for key in sorted(value))
    if hasattr(value, "origin"):  # what is inside a seal
        return _part(value.origin)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.nbytes <= _LONGEST:
        return value.dtype.str, value.shape, value.tobytes()
    if value is None or value is ... or type(value) in (bool, int, float, str, slice):
        return type(value).__name__, repr(value)
    raise _Unnamed
