"""Subjects that ask the same whatever comes out: very many of their runs are drawn at once.

A subject that is called once per run costs a call for each. Where it never looks at what was released, what it asks on given data
is the same in every run, so that the law of its releases is that of independent noise around these queries: the same that the
door draws from, one run at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.events.chosen_runs import quietly
from dpaudit.channel import Event, simulate
from dpaudit.channel.modes import Rest
from dpaudit.subjects.probe import PathWatch
from dpaudit.subjects.subject import Subject, fresh

WILD = 6  # runs with outputs of every size, which must leave all queries as they are
CELLS = 2 * 10**6  # numbers that are drawn at a time


@dataclass(frozen=True)
class FixedQueries:
    """What each of two data sets asks in every run: the same releases, other queries."""

    sides: tuple[Sequence[Event], Sequence[Event]]

    def losses(self, side: int, count: int, seed: int) -> np.ndarray:
        """log p(o|this side) − log p(o|other side) of ``count`` runs on this side."""
        rng = np.random.default_rng([seed, 1])
        losses = np.zeros(count)
        moving = [
            pair for pair in zip(self.sides[side], self.sides[1 - side], strict=True) if (pair[0].query != pair[1].query).any()
        ]
        for event, mirror in moving:
            step = max(1, CELLS // max(event.query.size, 1))
            for start in range(0, count, step):
                rows = min(step, count - start)
                queries, others = (np.broadcast_to(one.query, (rows, *one.query.shape)) for one in (event, mirror))
                ratios = event.noise.log_ratio(event.noise.simulate(queries, rng), queries, others)
                losses[start : start + rows] += np.asarray(ratios).reshape(rows, -1).sum(axis=1)
        return losses


def fixed_queries(subject: Subject, pair: tuple[Any, Any], seed: int) -> FixedQueries | None:
    """None unless the watch sees that no released value is looked at, on either data set, wild outputs change nothing, and both
    release the same with the same noise."""
    first, second = (_fixed(subject, side, seed) for side in pair)
    if not first or not second or len(first) != len(second):
        return None
    alike = all(
        a.name == b.name and a.noise == b.noise and a.query.shape == b.query.shape for a, b in zip(first, second, strict=True)
    )
    return FixedQueries((first, second)) if alike else None


def _fixed(subject: Subject, data: Any, seed: int) -> Sequence[Event]:
    """The releases of every run on this data; empty where they are not all fixed."""
    watch = PathWatch()
    events = _events(subject, data, seed, "drawn", watch)
    plain = all(event.kind in ("release", "selection") and event.to != "shuffled" and not event.hidden for event in events)
    if watch.looked or not plain:
        return ()
    for wild in range(WILD):
        again = _events(subject, data, seed + 1 + wild, "wild", None)
        same = len(again) == len(events) and all(
            a.name == b.name and a.noise == b.noise and np.array_equal(a.query, b.query)
            for a, b in zip(events, again, strict=True)
        )
        if not same:
            return ()
    return events


def _events(subject: Subject, data: Any, seed: int, rest: Rest, watch: PathWatch | None) -> Sequence[Event]:
    """What was released; nothing where public randomness took part or the run failed."""
    door = simulate(seed, every_report=True, rest=rest, observe=None if watch is None else watch.observe)
    with suppress(Exception), door as channel, quietly():
        channel.keeps_records = False
        if watch is None:
            subject.run(fresh(data), channel)
        else:
            with channel.audited():
                subject.run(fresh(data), channel)
        return () if channel.used_rng else channel.events
    return ()
