"""Does a subject ask the same when the same run is repeated? Else it has randomness, a clock or a memory of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dpaudit.auditors.replay.pinned_runs import play
from dpaudit.channel import PathChanged, Transcript, replay, simulate
from dpaudit.claims import DpauditError, Finding
from dpaudit.subjects.subject import Subject, fresh

REPEATS = 8  # runs that are repeated, each with noise of its own, in turn on the data sets that are given


def check_repeatable(subject: Subject, sides: Sequence[Any], seed: int) -> Finding | None:
    """Replay runs on the data that they were made on. Data whose records are all equal would hide which of them were taken.

    What is asked after secret randomness of the door may differ, and is not compared.
    """
    for repeat in range(max(REPEATS, len(sides))):
        finding = _repeated(subject, sides[repeat % len(sides)], seed + repeat)
        if finding is not None:
            return finding
    return None


def check_memory(subject: Subject, sides: Sequence[Any], seed: int) -> Finding | None:
    """Repeat a run after runs on all the other data: a subject that remembers them asks something else, or takes another path."""
    data = sides[0]
    first = play(subject, data, data, seed, None, records=False)
    for other in sides[1:]:
        with simulate(seed, every_report=True) as channel, suppress(DpauditError):
            channel.keeps_records = False  # no accountant reads these runs
            subject.run(fresh(other), channel)
    with replay(Transcript([event.output for event in first.events], seed)) as pinned:
        pinned.keeps_records = False
        try:
            subject.run(fresh(data), pinned)
        except PathChanged:
            return _remembers("it takes another path", subject.name)
    for event, mirror in zip(first.events, pinned.events, strict=False):
        if event.to != "shuffled" and not event.hidden and not np.array_equal(event.query, mirror.query):
            return _remembers(f"release {event.name!r} asks something else", event.name)
    return None


def _remembers(what: str, where: str) -> Finding:
    return Finding("DPA002", f"{what} after runs on other data: the subject remembers them; let each run start afresh", where)


def mixed_data(subject: Subject, pairs: Sequence[tuple[Any, Any]], seed: int) -> list[Any]:
    """Data sets to repeat runs on: of the neighbours, and far from them."""
    far = subject.neighbours.others(np.random.default_rng([seed, 11]))
    return [pairs[0][0], *far, *pairs[-1]]


def _repeated(subject: Subject, data: Any, seed: int) -> Finding | None:
    try:
        one = play(subject, data, data, seed, None, records=False)
    except PathChanged as changed:
        return Finding("DPA002", changed.detail + " although the data was the same", f"release {changed.release + 1}")
    for event, mirror in zip(one.events, one.mirror, strict=True):
        if event.to != "shuffled" and not event.hidden and not np.array_equal(event.query, mirror.query):
            return Finding(
                "DPA002",
                f"release {event.name!r} asks something else when the same run is repeated: "
                "randomness, a clock or a memory that the channel does not know",
                event.name,
            )
    return None
