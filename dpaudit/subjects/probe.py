"""Released values that notice when they decide something: a branch, an index, a parameter of a later release.

A subject that decides nothing by them has a single path: its releases and their costs are fixed in advance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpaudit.sealed.array import Sealed


class PathWatch:
    """Remembers whether a released value was looked at."""

    def __init__(self) -> None:
        self.looked = False

    def observe(self, value: Any) -> Probe:
        """Called by the door at every release."""
        return Probe(value, self)


class Probe(NDArrayOperatorsMixin):
    """A released value: arithmetic gives another probe; turning it into plain numbers is noted."""

    __slots__ = ("_value", "_watch")

    def __init__(self, value: Any, watch: PathWatch) -> None:
        self._value, self._watch = np.asarray(value), watch

    def _look(self) -> np.ndarray:
        self._watch.looked = True
        return self._value

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape

    @property
    def ndim(self) -> int:
        return self._value.ndim

    @property
    def size(self) -> int:
        return self._value.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._value.dtype

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Probe]:
        return (Probe(part, self._watch) for part in self._value)

    def __getitem__(self, index: Any) -> Probe:
        return Probe(self._value[_open(index)], self._watch)

    def __bool__(self) -> bool:
        return bool(self._look())

    def __int__(self) -> int:
        return int(self._look())

    def __float__(self) -> float:
        return float(self._look())

    def __index__(self) -> int:
        return int(self._look().__index__())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self._look(), dtype=dtype)

    def __complex__(self) -> complex:
        return complex(self._look())

    def __round__(self, digits: Any = None) -> Any:
        return round(self._look().item(), digits)

    def __repr__(self) -> str:
        return repr(self._look())

    def __format__(self, spec: str) -> str:
        value = self._look()
        return format(value[()] if value.ndim == 0 else value, spec)

    def __hash__(self) -> int:
        return hash(self._look().tobytes())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._value[_open(index)] = _open(value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "at" or any(not isinstance(out, Probe) for out in kwargs.get("out", ())):
            self._look()  # written into a plain array
        if _meets_sealed(inputs):
            self._look()  # a released value that weighs, shifts or bounds private data may decide the sensitivity
        return self._wrap(getattr(ufunc, method)(*_open(inputs), **_open(kwargs)))

    def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:
        if "out" in kwargs or any(callable(arg) for arg in args) or _meets_sealed([*args, *kwargs.values()]):
            self._look()  # written into a plain array, shown to a function, or as above
        return self._wrap(function(*_open(args), **_open(kwargs)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # numpy would take the plain array behind our back
            raise AttributeError(name)
        attribute = getattr(self._value, name)
        if not callable(attribute):
            return self._wrap(attribute)
        return lambda *args, **kwargs: self._wrap(attribute(*_open(args), **_open(kwargs)))

    def _wrap(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._wrap(part) for part in value)
        if isinstance(value, np.ndarray | np.generic):
            return Probe(value, self._watch)
        if not isinstance(value, Sealed):  # plain numbers, lists, or nothing: an array was written to
            self._look()
        return value


def _meets_sealed(values: Any) -> bool:
    return any(isinstance(v, Sealed) or (isinstance(v, list | tuple) and _meets_sealed(v)) for v in values)


def _open(value: Any) -> Any:
    if isinstance(value, Probe):
        return value._value
    if isinstance(value, tuple | list):
        return type(value)(_open(part) for part in value)
    if isinstance(value, dict):
        return {key: _open(part) for key, part in value.items()}
    return value
