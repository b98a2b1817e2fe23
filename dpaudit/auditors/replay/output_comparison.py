"""Compares what a subject writes to streams, logs, warnings, files and sockets on neighbouring data, with all outputs pinned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from dpaudit.auditors.replay.wild_replay import WildDoor
from dpaudit.channel import Channel, PathChanged, replay
from dpaudit.channel.modes import Simulated
from dpaudit.claims import Finding
from dpaudit.subjects.output_watch import OutputLog, difference, recording_output
from dpaudit.subjects.subject import Subject, fresh

PAIRS = 3  # the first, the middle and the last of those that are listed; each by law and with wild outputs


def compare_outputs(subject: Subject, pairs: Sequence[tuple[Any, Any]], seed: int) -> Finding | None:
    """Text that differs between neighbours is DPA002; none of it is shown. What differs on equal data too is not compared."""
    chosen = sorted({0, len(pairs) // 2, len(pairs) - 1})[:PAIRS]
    for place in chosen:
        for door in (Simulated(seed + place, None, True), WildDoor(seed + place, None, True, scheme=place % 3)):
            way = _compare(subject, *pairs[place], Channel(door))
            if way is not None:
                return Finding(
                    "DPA002",
                    f"what is written to {way} changes with the data, although every released value is the same; "
                    "write released values only",
                    subject.name,
                )
    return None


def _compare(subject: Subject, data: Any, other: Any, channel: Channel) -> str | None:
    """The first way on which the two differ; None too where another path leaves nothing to compare."""
    one, two = _write(subject, data, channel), _write_again(subject, other, channel)
    if two is None or not difference(one, two):
        return None
    again = _write_again(subject, data, channel)
    unsteady = set(one.texts) if again is None else set(difference(one, again))
    return next((way for way in difference(one, two) if way not in unsteady), None)


def _write(subject: Subject, data: Any, channel: Channel) -> OutputLog:
    """What is written in one run; up to where it fails, if it does."""
    channel.keeps_records = False  # no accountant reads these runs
    with recording_output() as log, suppress(Exception):
        subject.run(fresh(data), channel)
    return log


def _write_again(subject: Subject, data: Any, channel: Channel) -> OutputLog | None:
    """The same with the outputs of that run pinned; None where it takes another path, which is a finding of its own."""
    with recording_output() as log, replay(channel) as pinned:
        pinned.keeps_records = False
        try:
            subject.run(fresh(data), pinned)
        except PathChanged:
            return None
        except Exception:  # its own, as in the run before
            return log
    return log
