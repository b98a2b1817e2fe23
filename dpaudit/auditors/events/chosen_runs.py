"""Runs of a subject whose first releases, single numbers each, have chosen outputs: what is played, and what was asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count as count_up
from itertools import takewhile
from typing import Any

import numpy as np

from dpaudit.auditors.runs.returned_values import as_row, as_rows
from dpaudit.channel import Channel, Event, simulate
from dpaudit.channel.modes import Rest
from dpaudit.noise import Noise
from dpaudit.subjects.subject import Subject, fresh

FAR = 2**50  # units; as far out as outputs are chosen


@contextmanager
def quietly() -> Iterator[None]:
    """A subject that gets outputs of every size overflows here and there; nobody needs to read of it."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True)
class Runs:
    """(runs, …): what the observer `actions` sees as numbers, the queries of the chosen releases, and their noise.

    ``width`` is the noise's scale, σ or ε; it is NaN, ``asked`` and ``outputs`` 0, where a run had no such release.
    """

    played: np.ndarray
    asked: np.ndarray
    outputs: np.ndarray
    width: np.ndarray
    noises: tuple[Noise, ...]  # of the first run
    public: bool  # did randomness besides the releases' noise take part?


@dataclass(frozen=True)
class Chooser:
    """Runs on one data set."""

    subject: Subject
    data: Any
    seed: int

    # How many runs are cheap: together, or one by one.
    @property
    def tests(self) -> int:
        return 100 if self.subject.vectorised else 40

    @property
    def step(self) -> int:
        return 1 if self.subject.vectorised else 4

    @property
    def points(self) -> int:
        return 32 if self.subject.vectorised else 3

    def __call__(self, outputs: np.ndarray, rest: Rest = "exact", *, releases: int = 0, seed: int = 0) -> Runs:
        """``outputs`` (runs, k): chosen for the first k releases; the others come about as ``rest`` says.

        What was asked is told of the first ``releases``, or of the k.
        """
        count = max(releases, outputs.shape[1])
        if self.subject.vectorised:
            return self._together(outputs, rest, count, self.seed + seed)
        return _joined([self._alone(row, rest, count, self.seed + seed + 7919 * k) for k, row in enumerate(outputs)])

    def _together(self, outputs: np.ndarray, rest: Rest, releases: int, seed: int) -> Runs:
        count = len(outputs)
        padded = outputs if count > 1 else np.repeat(outputs, 2, axis=0)  # one trial alone could be taken for none
        with simulate(seed, trials=len(padded), pinned=list(padded.T), rest=rest) as channel, quietly():
            returned = self.subject.public(self.subject.run(fresh(self.data), channel))
        asked, width = np.zeros((len(padded), releases), np.int64), np.full((len(padded), releases), np.nan)
        came_out = asked.copy()
        passed = np.zeros(len(padded), np.int64)
        noises: dict[int, Noise] = {}
        for event in channel.events:
            rows = np.arange(len(padded)) if event.index is None else event.index
            if event.kind == "sums":
                continue
            places = passed[rows]
            passed[rows] += 1
            for place in range(releases):
                here = np.flatnonzero(places == place)
                if len(here) and event.query[:1].size == 1 and event.kind == "release":
                    asked[rows[here], place] = event.query[here].ravel()
                    came_out[rows[here], place] = event.output[here].ravel()
                    width[rows[here], place] = np.broadcast_to(_width(event.noise), len(rows))[here]
                    if rows[here[0]] == 0:
                        noises[place] = event.noise.at(int(here[0]))
        table = as_rows(returned, len(padded))
        known = tuple(noises[place] for place in takewhile(noises.__contains__, count_up()))  # what is chosen comes first
        return Runs(table[:count], asked[:count], came_out[:count], width[:count], known, channel.used_rng or _veiled(channel))

    def _alone(self, outputs: np.ndarray, rest: Rest, releases: int, seed: int) -> Runs:
        with simulate(seed, pinned=[np.asarray(output) for output in outputs], rest=rest) as channel, quietly():
            returned = self.subject.public(self.subject.run(fresh(self.data), channel))
        asked, width = np.zeros((1, releases), np.int64), np.full((1, releases), np.nan)
        came_out = asked.copy()
        noises = []
        for place, event in enumerate(channel.events[:releases]):
            if not _single(event):
                break
            asked[0, place], width[0, place] = event.query.ravel()[0], _width(event.noise)
            came_out[0, place] = event.output.ravel()[0]
            noises.append(event.noise)
        return Runs(as_row(returned)[None, :], asked, came_out, width, tuple(noises), channel.used_rng or _veiled(channel))


def _veiled(channel: Channel) -> bool:
    return any(event.veiled for event in channel.events)


def _single(event: Event) -> bool:
    return event.kind == "release" and event.query.size == 1


def _width(noise: Any) -> Any:
    return np.asarray(noise.size, dtype=float)


def _joined(parts: list[Runs]) -> Runs:
    """Runs that return different numbers of things: the shorter ones are filled with NaN."""
    longest = max((part.played.shape[1] for part in parts), default=0)
    played = np.full((len(parts), longest), np.nan)
    for row, part in enumerate(parts):
        played[row, : part.played.shape[1]] = part.played[0]
    asked, outputs, width = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("asked", "outputs", "width")
    )  # fmt: skip
    return Runs(played, asked, outputs, width, parts[0].noises, any(part.public for part in parts))
