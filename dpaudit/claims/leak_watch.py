"""What happened to sealed data besides its releases: leaks, and calls that would fail on some data and not on other.

Code that catches an error goes on as if nothing had been; whoever vouches for a run, an audit or a door that takes proven
releases only, watches and is told all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from weakref import WeakSet


@dataclass(frozen=True)
class Doubt:
    """A call on private values that raises an error on some of them: whether it does would tell."""

    operation: str
    where: str


@dataclass(eq=False)
class Watch:
    """What was noticed while it watched: the leaks, in order, and the calls whose failure would tell."""

    leaks: list[Exception] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    changed_in_place: list[str] = field(default_factory=list)  # lines such as y += 1: other names of y keep what it was


_own: ContextVar[Watch | None] = ContextVar("the watch of an audit", default=None)
_open: WeakSet[Watch] = WeakSet()


def standing_watch() -> Watch:
    """A watch for as long as somebody holds it: told of everything in this process that no audit watches."""
    watch = Watch()
    _open.add(watch)
    return watch


@contextmanager
def watching() -> Iterator[Watch]:
    """A watch over what is done inside, and over threads that were started there: those of nobody else are told to all."""
    watch = standing_watch()
    token = _own.set(watch)
    try:
        yield watch
    finally:
        _own.reset(token)
        _open.discard(watch)


def audit_watches() -> bool:
    """Does an audit watch the code that runs?"""
    return _own.get() is not None


def notice_change_in_place(where: str) -> None:
    """Tell the watch of an audit that sealed data got a new value under its name."""
    own = _own.get()
    if own is not None and where not in own.changed_in_place:
        own.changed_in_place.append(where)


def notice(what: Exception | Doubt) -> None:
    """Tell the watch over the code that runs; where it has none, as a new thread has none, every watch there is."""
    own = _own.get()
    for watch in (own,) if own is not None else tuple(_open):
        if not isinstance(what, Doubt):
            watch.leaks.append(what)
        elif what not in watch.doubts:
            watch.doubts.append(what)
