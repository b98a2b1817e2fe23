"""Refused releases, counted by reason and hour, for whoever watches a service.

They are no entries: nothing is charged or proven by them, and whoever can write the folder can change them. They hold no name, no
cohort and no value; that a budget is used up is public. A door counts them in memory and writes a line at most every ten seconds,
so that a service that asks in vain all day leaves a few hundred kilobytes; a killed one loses the last ten seconds.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from dpaudit.claims import BudgetExceeded

BUDGET = "budget"  # the budget does not allow it (DPA001)

_PAUSE = 10.0  # seconds between two lines of one door
_LONGEST = 16 * 10**6  # bytes of a file that are read
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d) ([a-z]{1,20}) ([1-9]\d{0,11})")


@dataclass(frozen=True, order=True)
class Refusals:
    """How many releases were refused for this reason in this hour of UTC, such as 2026-01-31T09."""

    hour: str
    reason: str
    count: int


@runtime_checkable
class KeepsRefusals(Protocol):
    """A store that keeps such counts beside its entries."""

    def note_refusals(self, refused: Refusals) -> None: ...

    def refusals(self) -> list[Refusals]:
        """One for each hour and reason, in order."""
        ...


class RefusalCounter:
    """Counts for one open ledger, from any thread. ``write`` keeps them; that it fails changes no refusal."""

    def __init__(self, write: Callable[[Refusals], None], clock: Callable[[], float] = time.time) -> None:
        self._write, self._clock = write, clock
        self._counted: Counter[tuple[str, str]] = Counter()
        self._written = -_PAUSE
        self._lock = threading.Lock()

    def note(self, reason: str) -> None:
        with self._lock:
            now = self._clock()
            self._counted[datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H"), reason] += 1
            if not 0 <= now - self._written < _PAUSE:
                self._written = now
                self._write_all()

    def flush(self) -> None:
        with self._lock:
            self._write_all()

    def _write_all(self) -> None:
        while self._counted:
            (hour, reason), count = self._counted.popitem()
            with suppress(OSError):
                self._write(Refusals(hour, reason, count))


class _Counts(Protocol):
    refused: RefusalCounter


Verb = TypeVar("Verb", bound=Callable[..., Any])


def counted(verb: Verb) -> Verb:
    """A verb of a ledger whose refusals by the budget are counted."""

    @wraps(verb)
    def counting(self: _Counts, *args: Any, **options: Any) -> Any:
        try:
            return verb(self, *args, **options)
        except BudgetExceeded:
            self.refused.note(BUDGET)
            raise

    return cast(Verb, counting)


def forget(refused: Refusals) -> None:
    """For a store that does not keep them."""


def summed(refusals: Iterable[Refusals]) -> list[Refusals]:
    totals: Counter[tuple[str, str]] = Counter()
    for each in refusals:
        totals[each.hour, each.reason] += each.count
    return sorted(Refusals(*where, count) for where, count in totals.items())


def append_line(path: Path, refused: Refusals) -> None:
    """One write at the end of the file, so that processes do not tear each other's lines."""
    with open(path, "ab", buffering=0) as file:
        file.write(f"{refused.hour} {refused.reason} {refused.count}\n".encode())


def read_lines(path: Path) -> list[Refusals]:
    """What is there; a line that no door writes is left out, as is a file that cannot be read."""
    try:
        with open(path, "rb") as file:
            text = file.read(_LONGEST).decode("ascii", "replace")
    except OSError:
        return []
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return summed(Refusals(line[1], line[2], int(line[3])) for line in found if line is not None)
