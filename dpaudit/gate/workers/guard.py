"""Holds the worker's own code while a subject runs in its process: what was put in its place is noticed, what looks for the
gate's secret is refused. ``against/base_policy.py`` lists what remains trusted all the same.
"""

from __future__ import annotations

import builtins
import os
import site
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from dpaudit.claims import DpauditError

TOUCHED = 70  # exit code of a worker whose own code was changed
PACKAGE = "dpaudit"
OWN = str(Path(__file__).parents[2]) + os.sep
INSTALLED = (OWN, *(folder + os.sep for folder in site.getsitepackages()))  # hypothesis looks for referrers, as an audit does
LEANT_ON = frozenset(
    {"builtins", "collections", "copy", "dataclasses", "decimal", "enum", "fractions", "functools", "io", "json"}
)
LEANT_ON |= {"itertools", "math", "numbers", "operator", "statistics", "numpy", "scipy", "mpmath", "flint"}
# Ways to look into other threads and at every object (events of PEP 578).
REFUSED = frozenset({"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "sys._current_exceptions"})

Parts = dict[tuple[str, str], tuple[int, ...]]


class GateTouched(DpauditError):
    """A subject looked for the gate, or changed it, in the process that judges it."""


class Guard:
    """Made before a subject is imported. ``changed`` names what is not as it was then."""

    def __init__(self) -> None:
        self._parts, self._identities, self._foreign = _private(_parts), _private(_identities), _private(_is_foreign)
        self._kept = list(self._parts())  # objects stay alive, so that no other one gets their identity
        self._before = self._identities(self._kept)
        self._touched: list[str] = []
        sys.addaudithook(self._heard)  # for good: a hook cannot be removed

    def changed(self) -> list[str]:
        """What a subject asked for in vain, and every function of dpaudit's, or that it leans on, that is another one now."""
        after = list(self._parts())
        now = self._identities(after)
        replaced = [f"{module}.{name}" for (module, name), what in self._before.items() if now.get((module, name)) != what]
        foreign = [f"{module}.{name}" for module, name, value in after if module.startswith("dpaudit") and self._foreign(value)]
        return list(dict.fromkeys([*self._touched, *replaced, *foreign]))

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in REFUSED and not sys._getframe(1).f_code.co_filename.startswith(INSTALLED):
            self._refuse(event)
        if event == "open" and isinstance(arguments[0], str | bytes | Path):
            place = os.fsencode(arguments[0])
            if place.startswith(b"/proc/") and place.endswith(b"/mem"):
                self._refuse("the memory of a process")

    def _refuse(self, what: str) -> None:
        self._touched.append(what)
        raise GateTouched(f"{what} is out of reach in the gate's worker")


def _private(function: Any) -> Any:
    """The same function with names of its own: what is put into this module later does not reach it."""
    names = {**function.__globals__, "__builtins__": dict(vars(builtins))}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def _parts() -> Iterator[tuple[str, str, Any]]:
    """Module, name and value of everything that can be called, in dpaudit, in its classes and in what it leans on."""
    for module, held in list(sys.modules.items()):
        if module.partition(".")[0] not in (*LEANT_ON, PACKAGE):
            continue
        for name, value in list(vars(held).items()) if isinstance(held, ModuleType) else ():
            if callable(value):
                yield module, name, value
            if isinstance(value, type) and value.__module__ == module:
                for inner, part in list(vars(value).items()):
                    if callable(part) or isinstance(part, property | classmethod | staticmethod):
                        yield module, f"{name}.{inner}", part


def _identities(parts: list[tuple[str, str, Any]]) -> Parts:
    """A function is also the code and the defaults that it has; mpmath's are known by their code, as each context wraps them."""
    found: Parts = {}
    for module, name, value in parts:
        if not isinstance(value, FunctionType):
            found[module, name] = (id(value),)
        elif module.startswith("mpmath."):
            found[module, name] = (id(value.__code__),)
        else:
            found[module, name] = (id(value), id(value.__code__), id(value.__defaults__))
    return found


def _is_foreign(value: object) -> bool:
    """Is it a function from a file that is not installed, and not dpaudit's own?"""
    if not isinstance(value, FunctionType):
        return False
    file = value.__code__.co_filename
    return not file.startswith((OWN, sys.prefix, sys.base_prefix, "<"))  # "<": made by dataclasses and named tuples
