"""Which numbers of the joint view depend on no earlier output? Their noise is independent, so probabilities multiply."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.events.chosen_runs import quietly
from dpaudit.channel import Event, simulate
from dpaudit.channel.modes import Rest
from dpaudit.noise import Noise
from dpaudit.subjects.probe import PathWatch
from dpaudit.subjects.subject import Subject, fresh

WILD = 6  # runs with outputs of every size, which must leave the queries as they are


@dataclass(frozen=True)
class Coordinate:
    """One noisy number: where it is released, its noise, and what each data set asks."""

    position: int
    name: str
    index: tuple[int, ...]
    noise: Noise
    query: int
    other: int

    def turned(self) -> Coordinate:
        return Coordinate(self.position, self.name, self.index, self.noise, self.other, self.query)


def independent_coordinates(subject: Subject, data: Any, other: Any, seed: int) -> list[Coordinate]:
    """The numbers that the two data sets ask differently, in the first releases whose queries no output changes.

    Empty where public randomness takes part: the laws are mixtures then.
    """
    sides = [_unmoved(subject, side, seed) for side in (data, other)]
    coordinates = []
    for position, (event, mirror) in enumerate(zip(*sides, strict=False)):
        if not _alike(event, mirror):
            break
        for place in np.argwhere(event.query != mirror.query):
            index = tuple(int(i) for i in place)
            queries = int(event.query[index]), int(mirror.query[index])
            coordinates.append(Coordinate(position, event.name, index, event.noise, *queries))
    return coordinates


def _unmoved(subject: Subject, data: Any, seed: int) -> Sequence[Event]:
    """The releases that come first and ask the same whatever came out before: proven by the watch, and tested."""
    first = _events(subject, data, seed, "exact")
    apart = (k for k, event in enumerate(first) if event.kind != "release" or event.to == "shuffled" or event.hidden)
    length = min(next(apart, len(first)), _before_a_look(subject, data, seed))
    for wild in range(WILD if length else 0):
        again = _events(subject, data, seed + 1 + wild, "wild")
        pairs = enumerate(zip(first[:length], again, strict=False))
        length = next((k for k, (a, b) in pairs if not _alike(a, b) or not np.array_equal(a.query, b.query)), length)
        length = min(length, len(again))
    return first[:length]


def _before_a_look(subject: Subject, data: Any, seed: int) -> int:
    """How many releases come before the subject first looks at a released value. Until then no value decides what is asked."""
    watch = PathWatch()
    passed = [0]

    def observe(value: Any) -> Any:
        passed[0] += not watch.looked
        return watch.observe(value)

    door = simulate(seed, every_report=True, rest="exact", observe=observe)
    with door as channel, channel.audited(), quietly(), suppress(Exception):
        subject.run(fresh(data), channel)  # what it raises is its own, as below
    return passed[0]


def _events(subject: Subject, data: Any, seed: int, rest: Rest) -> Sequence[Event]:
    """What was released, up to where the subject fails on such outputs, if it does."""
    with simulate(seed, every_report=True, rest=rest) as channel, quietly(), suppress(Exception):
        subject.run(fresh(data), channel)  # what it raises is its own, and nothing after it is used
    return () if channel.used_rng else channel.events


def _alike(one: Event, other: Event) -> bool:
    return one.name == other.name and one.noise == other.noise and one.query.shape == other.query.shape
