"""Randomness and clocks that are not the door's, noticed while a subject runs under an audit.

Seen: a moved state of ``random``, ``np.random``, or a generator that the subject's module or closure holds; ``os.urandom`` and
what draws from it (``secrets``, ``uuid4``); generators made without a seed; the clocks of ``time``. Not seen: ``datetime.now``,
a generator hidden deeper than that, ``np.random.PCG64()`` without a seed, other threads, files. Those show only when a run that
is repeated asks something else.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CLOCKS = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "process_time_ns")
PASSED_ON = {"random", "secrets", "uuid"}  # modules that hand out what they draw: whoever called them is meant
EXCUSED = {"dpaudit", "logging", "threading", "queue", "concurrent"}  # read clocks for purposes of their own


@dataclass(eq=False)
class Outside:
    """What was noticed, each source once, in its order."""

    sources: dict[str, None] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"randomness or a clock that is not the channel's: {', '.join(self.sources)}"


_watch: ContextVar[Outside | None] = ContextVar("what else decides", default=None)


@contextmanager
def watching() -> Iterator[Outside]:
    """A watch over every run of a subject inside, in this thread."""
    watch = Outside()
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


@contextmanager
def noticing(function: Callable[..., Any]) -> Iterator[None]:
    """Around one call of a subject's function: tell the watch, if there is one."""
    watch = _watch.get()
    if watch is None:
        yield
        return
    generators = _generators(function)
    before = [_state(one) for one in generators.values()]
    placed = _patch(watch, getattr(function, "__globals__", {}))
    try:
        yield
    finally:
        for holder, name, original in placed:
            _put(holder, name, original)
        for name, one, state in zip(generators, generators.values(), before, strict=True):
            if _state(one) != state:
                watch.sources[name] = None


def _generators(function: Callable[..., Any]) -> dict[str, Any]:
    """The global generators, and those that the function's module, closure or instance holds, by name."""
    generators: dict[str, Any] = {"random": random._inst, "np.random": np.random.mtrand._rand}
    cells = dict(zip(getattr(getattr(function, "__code__", None), "co_freevars", ()), _cells(function), strict=False))
    instance = getattr(getattr(function, "__self__", None), "__dict__", {})
    for name, value in {**getattr(function, "__globals__", {}), **cells, **instance}.items():
        held = getattr(value, "__self__", value) if callable(value) else value  # also a method of one, such as rng.random
        if isinstance(held, random.Random | np.random.Generator | np.random.RandomState):
            known = any(held is one for one in generators.values())
            generators.update({} if known else {f"the generator {name!r}": held})
    return generators


def _cells(function: Callable[..., Any]) -> list[Any]:
    contents = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            contents.append(cell.cell_contents)
        except ValueError:  # not filled yet
            contents.append(None)
    return contents


def _state(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return None if isinstance(generator, random.SystemRandom) else generator.getstate()
    return repr(generator.bit_generator.state) if isinstance(generator, np.random.Generator) else _legacy(generator)


def _legacy(generator: np.random.RandomState) -> Any:
    state = generator.get_state(legacy=False)
    return state["state"]["key"].tobytes(), state["state"]["pos"], state["has_gauss"]


def _patch(watch: Outside, names: dict[str, Any]) -> list[tuple[Any, str, Any]]:
    """Put notices in the place of clocks and unseeded sources, in their modules and under names imported from there."""
    sources: list[tuple[Any, str, str, Callable[[tuple[Any, ...]], bool]]] = [
        (os, "urandom", "os.urandom", _always),
        (random, "_urandom", "os.urandom", _always),
        (random.Random, "seed", "random.Random() without a seed", lambda args: args[1:2] in ((), (None,))),
        (np.random, "default_rng", "np.random.default_rng() without a seed", lambda args: args[:1] in ((), (None,))),
        *((time, clock, f"time.{clock}", _always) for clock in CLOCKS),
    ]
    placed, notices = [], {}
    for holder, name, source, counts in sources:
        original = getattr(holder, name)
        placed.append((holder, name, original))
        notices[id(original)] = _noted(watch, original, source, counts)
    placed += [(names, name, value) for name, value in names.items() if id(value) in notices]
    for holder, name, original in placed:
        _put(holder, name, notices[id(original)])
    return placed


def _always(_: tuple[Any, ...]) -> bool:
    return True


def _put(holder: Any, name: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[name] = value
    else:
        setattr(holder, name, value)


def _noted(
    watch: Outside, original: Callable[..., Any], source: str, counts: Callable[[tuple[Any, ...]], bool]
) -> Callable[..., Any]:
    """The same function; a call by the subject's thread is noted."""
    thread = threading.get_ident()

    def told(*args: Any, **kwargs: Any) -> Any:
        seeded = kwargs.get("seed", kwargs.get("a")) is not None
        if threading.get_ident() == thread and not seeded and counts(args) and _asked_by() not in EXCUSED:
            watch.sources[source] = None
        return original(*args, **kwargs)

    return told


def _asked_by() -> str:
    """The top-level module of the code that asked."""
    frame = sys._getframe(2)
    while frame.f_back is not None and _root(frame.f_globals) in PASSED_ON:
        frame = frame.f_back
    return _root(frame.f_globals)


def _root(names: dict[str, Any]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
