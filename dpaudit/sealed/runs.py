"""Which run sealed data belongs to. A value of one run says nothing about the data of another: no door takes it there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Run:
    """The identity of one run of a subject."""

    __slots__ = ()


MIXED = Run()  # of what was made from the data of several runs

_current: ContextVar[Run | None] = ContextVar("the run of a subject", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """While a subject runs: what is sealed inside belongs to this run alone."""
    token = _current.set(Run())
    try:
        yield
    finally:
        _current.reset(token)


def current_run() -> Run | None:
    """The run of a subject that is going on, if any."""
    return _current.get()


def run_of(values: Any) -> Any:
    """The run behind these values, sealed ones in lists and tuples among them; MIXED for several, and for none the current."""
    runs = list(dict.fromkeys(_runs(values)))
    return runs[0] if len(runs) == 1 else MIXED if runs else current_run()


def _runs(values: Any) -> Iterator[Any]:
    if isinstance(values, list | tuple):
        for value in values:
            yield from _runs(value)
    elif hasattr(type(values), "_run"):  # a slot of sealed data
        yield values._run
