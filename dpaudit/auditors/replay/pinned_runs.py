"""Replay: pin a run's outputs, run the same code on other data, and compare the queries.

On neighbouring data this gives the observed sensitivity and the exact privacy loss of the joint view; on far data, whether
anything but the released outputs decides the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpaudit.auditors.runs.output_cells import cells
from dpaudit.auditors.wording import describe
from dpaudit.channel import Event, PathChanged, Transcript, replay, simulate
from dpaudit.claims import DpauditError, Finding, show
from dpaudit.noise import Noise
from dpaudit.subjects.subject import Subject, fresh


@dataclass(frozen=True)
class Replayed:
    """One call of a subject on ``data`` and its replay on ``other``: the same outputs, two sets of queries."""

    events: Sequence[Event]
    mirror: Sequence[Event]
    returned: Any
    trials: int | None
    seed: int = 0  # of the public randomness

    def losses(self) -> np.ndarray:
        """log p(o|data) − log p(o|other) of the joint view, per trial; of shuffled batches, as ``multiset_ratio`` has it."""
        total = np.zeros(self.trials or 1)
        for event, mirror in zip(self.events, self.mirror, strict=True):
            if event.to == "shuffled":
                total[slice(None) if event.index is None else event.index] += multiset_ratio(event, mirror)
                continue
            differs = event.query != mirror.query
            if not differs.any():
                continue
            ratio = event.noise.log_ratio(event.output, event.query, mirror.query)
            per_trial = ratio.reshape(len(ratio), -1).sum(axis=1) if self.trials is not None else np.array([ratio.sum()])
            total[slice(None) if event.index is None else event.index] += per_trial
        return total

    def exact_loss(self, trial: int) -> Fraction | None:
        """The same for one trial as an exact number; None where it is not rational."""
        total = Fraction(0)
        for event, mirror, place in self.differing(trial):
            if not event.noise.entrywise:
                return None
            noise = self.noise_of(event, place)
            part = noise.exact_log_ratio(int(event.output[place]), int(event.query[place]), int(mirror.query[place]))
            if part is None:
                return None
            total += part
        return total

    def noise_of(self, event: Event, place: tuple[int, ...]) -> Noise:
        """The noise behind one coordinate: parameters may differ between trials."""
        return event.noise if self.trials is None else event.noise.at(place[0])

    def differing(self, trial: int) -> Iterator[tuple[Event, Event, tuple[int, ...]]]:
        """Every coordinate of this trial whose query differs."""
        for number, (event, mirror) in enumerate(zip(self.events, self.mirror, strict=True)):
            if event.to == "shuffled":
                continue
            row: tuple[int, ...] = ()
            if self.trials is not None:
                found = self.row(number, trial)
                if found is None:
                    continue
                row = (found,)
            for place in np.argwhere(event.query[row] != mirror.query[row]):
                yield event, mirror, (*row, *(int(i) for i in place))

    def outputs(self, trial: int) -> list[np.ndarray]:
        """What was released in this trial, in its order."""
        if self.trials is None:
            return [event.output for event in self.events]
        rows = [(event, self.row(number, trial)) for number, event in enumerate(self.events)]
        return [event.output[row] for event, row in rows if row is not None]

    def row(self, number: int, trial: int) -> int | None:
        """The place of a trial in this event, which may be of some of them; None where it is not in it."""
        place = int(self._rows[number][trial])
        return None if place < 0 else place

    @cached_property
    def _rows(self) -> list[np.ndarray]:
        """For each event, the row of every trial; −1 for those it is not about."""
        rows = []
        for event in self.events:
            of_trial = np.full(self.trials or 1, -1)
            index = np.arange(self.trials or 1) if event.index is None else event.index
            of_trial[index[::-1]] = np.arange(len(index))[::-1]  # the first row, where a trial had several
            rows.append(of_trial)
        return rows


def multiset_ratio(event: Event, mirror: Event) -> np.ndarray:
    """log Σ_k R_x(y_k)/R_x0(y_k) − log Σ_k R_x'(y_k)/R_x0(y_k) over the reports y_k of each run: exact when all clients but one
    hold x0 and that one holds x or x'; a score, and no more, when they do not.

    Turned round, it only changes its sign: a score that knew which data set it came from would be worthless.
    """
    outputs, here, there = (values.reshape(-1, values.shape[-1]) for values in (event.output, event.query, mirror.query))
    crowd = np.median(np.concatenate([here, there], axis=-1), axis=-1).astype(np.int64)[:, None]
    one, other = (crowd + (side - crowd).sum(axis=-1, keepdims=True) for side in (here, there))
    ratios = [event.noise.log_ratio(outputs, value, crowd) for value in (one, other)]
    return np.asarray(logsumexp(ratios[0], axis=-1) - logsumexp(ratios[1], axis=-1))


def play(subject: Subject, data: Any, other: Any, seed: int, trials: int | None, *, records: bool = True) -> Replayed:
    """Run on ``data``, replay on ``other``. Raises PathChanged when the outputs do not decide the path (DPA002).

    ``records``: whether events hold what a ledger would; games draw many runs and need none.
    """
    with simulate(seed, trials=trials, every_report=True) as channel:
        channel.keeps_records = records
        returned = subject.run(fresh(data), channel)
    with replay(channel) as pinned:
        pinned.keeps_records = records
        again = subject.run(fresh(other), pinned)
    events, mirror = channel.events, pinned.events
    changed = _first_change(events, mirror)
    if changed is not None:
        raise PathChanged(changed)
    if not _equal(subject.public(returned), subject.public(again), single=trials is None):
        raise PathChanged(len(events))
    return Replayed(events, mirror, returned, trials, seed)


def replay_first(subject: Subject, other: Any, events: Sequence[Event], seed: int) -> Replayed | None:
    """The first releases of one run, replayed on ``other`` up to the last of them; None where it takes another path."""
    try:
        with replay(Transcript([event.output for event in events], seed)) as pinned:
            subject.run(fresh(other), pinned)
    except PathChanged as changed:
        if changed.release != len(events):  # it asked for more than is pinned: that is where the events end
            return None
    mirror = pinned.events[: len(events)]
    return Replayed(events, mirror, None, None, seed) if _first_change(events, mirror) is None else None


def _first_change(events: Sequence[Event], mirror: Sequence[Event]) -> int | None:
    """The first release in which two runs with the same outputs differ by more than the query."""
    for place, (event, twin) in enumerate(zip(events, mirror, strict=False)):
        same = event.name == twin.name and event.to == twin.to and event.query.shape == twin.query.shape
        if not same or not _same_parameters(event, twin):
            return place
    return None if len(events) == len(mirror) else min(len(events), len(mirror))


def _same_parameters(event: Event, twin: Event) -> bool:
    declared = np.array_equal(np.asarray(event.sensitivity, float), np.asarray(twin.sensitivity, float))
    return bool(event.noise == twin.noise and declared and event.cohort == twin.cohort)


def _equal(a: Any, b: Any, *, single: bool = False) -> bool:
    """Are two outputs the same? Of ``single`` runs in every part: types, order of keys, signs of zeros."""
    if single:
        with suppress(DpauditError):  # what no game takes
            return np.array_equal(cells(a), cells(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    try:
        return bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))
    except (TypeError, ValueError):
        return bool(a == b)


@dataclass(frozen=True)
class Move:
    """How far a release was seen to move on a pair of neighbours, and what it declares."""

    declared: Fraction
    allowed: Fraction  # declared, as a whole number of steps of the grid, and what rounding each coordinate may add
    observed: Fraction
    pair: tuple[Any, Any]

    @property
    def share(self) -> Fraction:
        return self.observed / self.allowed

    def sides(self) -> str:
        """The pair in words."""
        return " against ".join(str(describe(side)) for side in self.pair)


@dataclass
class Observed:
    """What replay on neighbours saw of sensitivity."""

    largest: dict[str, Move] = field(default_factory=dict)  # of each release, the largest share of what is allowed
    unseen: set[str] = field(default_factory=set)  # replay cannot compare: shuffled, after a secret, declared for each trial

    @property
    def excess(self) -> dict[str, Fraction]:
        """Observed sensitivity where it exceeds the declared one."""
        return {name: move.observed for name, move in self.largest.items() if move.share > 1}

    @property
    def findings(self) -> list[Finding]:
        return [Finding("DPA003", self.told(name), name, name) for name in self.excess]

    def told(self, name: str) -> str:
        """The pair that exceeds what is declared, in words."""
        move = self.largest[name]
        observed = show(move.observed) if len(show(move.observed)) <= 12 else f"{float(move.observed):.9g}"
        return f"release {name!r} declares sensitivity {show(move.declared)}; observed {observed} on {move.sides()}"

    def look(self, played: Replayed, data: Any, other: Any) -> Fraction:
        """Take in one replayed pair; the largest share that it attains."""
        best = Fraction(0)
        for event, mirror in zip(played.events, played.mirror, strict=True):
            if event.to == "shuffled" or event.hidden or isinstance(event.sensitivity, np.ndarray):
                self.unseen.add(event.name)
                continue
            observed, coordinates = _moved(event, mirror, played.trials)
            steps = -(-event.sensitivity // event.noise.grid) + (coordinates if coordinates > 1 else 0)
            move = Move(event.sensitivity, steps * event.noise.grid, observed, (data, other))
            best = max(best, move.share)
            if event.name not in self.largest or move.share > self.largest[event.name].share:
                self.largest[event.name] = move
        return best

    def simplify(self, name: str, pair: tuple[Any, Any]) -> None:
        """Show the same move by another pair that attains it."""
        self.largest[name] = replace(self.largest[name], pair=pair)


def _moved(event: Event, mirror: Event, trials: int | None) -> tuple[Fraction, int]:
    """How far the query moved, in its noise's norm, and in how many coordinates; of many trials, the furthest and the most."""
    gap = np.abs(event.query - mirror.query)
    rows = gap.reshape(len(gap), -1) if trials is not None else gap.reshape(1, -1)
    norms = {
        -1: lambda: rows.max(axis=1, initial=0).max(),
        0: lambda: (rows > 0).sum(axis=1).max(),
        1: lambda: rows.sum(axis=1).max(),
        2: lambda: np.sqrt((rows.astype(float) ** 2).sum(axis=1).max()),
    }
    largest = norms[event.noise.norm]()
    coordinates = 0 if rows.shape[1] == 1 else int((rows > 0).sum(axis=1).max())
    return Fraction(int(np.ceil(largest))) * event.noise.grid, coordinates


def far_replay(subject: Subject, seed: int, rng: np.random.Generator) -> Finding | None:
    """On arbitrary other data, with outputs pinned, nothing public may change."""
    pairs = subject.neighbours.pairs(rng)
    for data in subject.neighbours.others(rng):
        try:
            play(subject, pairs[0][0], data, seed, None, records=False)
        except PathChanged as changed:
            return Finding(
                "DPA002",
                changed.detail + " when the data was replaced by other data",
                f"release {changed.release + 1}",
            )
    return None
