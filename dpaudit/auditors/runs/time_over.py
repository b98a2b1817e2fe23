"""The end of an audit's time, noticed between two runs of a black box or two chunks of runs. What was begun then is not used."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpaudit.subjects.subject import Subject


class TimeOver(BaseException):
    """Ends a stage, as Ctrl-C would: no exception of a subject, which would be taken for its output."""


class TimedCalls:
    """A black box that is not called any more once the time is over. The clock is that of this machine."""

    def __init__(self, function: Callable[..., Any], deadline: float) -> None:
        functools.update_wrapper(self, function)
        self.function, self.deadline = function, deadline

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if time.monotonic() >= self.deadline:
            raise TimeOver
        return self.function(*arguments, **named)


def with_time_limit(subject: Subject, deadline: float | None) -> Subject:
    """The same black box until then. Behind a door runs are short, and chunks of them are looked at instead."""
    if deadline is None or subject.grey:
        return subject
    return replace(subject, function=TimedCalls(subject.function, deadline))
