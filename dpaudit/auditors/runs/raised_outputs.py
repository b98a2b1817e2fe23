"""Black boxes of other people: what they raise is observed like any other output, and randomness of their own is noticed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.auditors.runs.transcripts import returned_values
from dpaudit.subjects.subject import Subject

REPEATED = 8  # runs that are repeated with the same seed


class RaisedOutputs:
    """A subject that never raises: the type of an exception is its output in that run. Its message is no output: it may hold
    an address or a time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.calls, self.raised = function, 0, 0
        self.kinds: dict[str, None] = {}
        self.last: Exception | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        try:
            return self.function(*arguments, **named)
        except Exception as error:
            self.raised, self.last = self.raised + 1, error
            self.kinds[type(error).__name__] = None
            return f"raised {type(error).__module__}.{type(error).__qualname__}"

    def check_some_return(self) -> None:
        """Raises what it raised, where all runs in this process raised alike: there is nothing to audit then."""
        if self.last is not None and self.raised == self.calls and len(self.kinds) == 1:
            raise self.last

    def __getstate__(self) -> dict[str, Any]:
        """A traceback does not travel to other processes."""
        return {**self.__dict__, "last": None}


def with_raised_outputs(subject: Subject, *, grey: bool = False) -> Subject:
    """The same black box, or with ``grey`` any subject, with exceptions as outputs. One that is called for many trials at once
    cannot say which one failed."""
    if (subject.grey and not grey) or subject.vectorised:
        return subject
    return replace(subject, function=RaisedOutputs(subject.function))


def notes_on(subject: Subject, pair: tuple[Any, Any]) -> Sequence[str]:
    """What a person should know of a black box, beside its verdict. Raises what it raises where every run does."""
    notes = []
    function = subject.function
    if isinstance(function, RaisedOutputs):
        function.check_some_return()
        if function.raised:
            kinds = ", ".join(function.kinds)
            notes.append(f"some runs raised {kinds}, which was taken for what they return")
    if draws_its_own(subject, pair[0]):
        notes.append("it draws randomness of its own, so that the seed does not repeat its runs")
    return notes


def draws_its_own(subject: Subject, data: Any) -> bool:
    """Do runs with the same seed on the same data show something else?"""
    first, second = (returned_values(subject, data, REPEATED, 0) for _ in range(2))
    return first.shape != second.shape or not np.array_equal(first, second, equal_nan=True)
