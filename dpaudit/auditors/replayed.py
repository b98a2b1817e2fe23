"""Replay: pin a run's outputs, run the same code on other data, and compare the queries.

On neighbouring data this gives the observed sensitivity and the exact privacy loss of the joint view; on far data, whether
anything but the released outputs decides the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.auditors.described import describe
from dpaudit.channel import Event, PathChanged, replay, simulate
from dpaudit.claims import Finding, show
from dpaudit.noise import Noise
from dpaudit.subject import Subject, fresh


@dataclass(frozen=True)
class Replayed:
    """One call of a subject on ``data`` and its replay on ``other``: the same outputs, two sets of queries."""

    events: Sequence[Event]
    mirror: Sequence[Event]
    returned: Any
    trials: int | None

    def losses(self) -> np.ndarray:
        """log p(o|data) − log p(o|other) of the joint view, per trial; shuffled batches have none and are left out."""
        total = np.zeros(self.trials or 1)
        for event, mirror in zip(self.events, self.mirror, strict=True):
            if event.to == "shuffled":
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
        for event, mirror in zip(self.events, self.mirror, strict=True):
            if event.to == "shuffled":
                continue
            row: tuple[int, ...] = ()
            if self.trials is not None:
                found = np.flatnonzero(event.index == trial) if event.index is not None else np.array([trial])
                if not len(found):
                    continue
                row = (int(found[0]),)
            for place in np.argwhere(event.query[row] != mirror.query[row]):
                yield event, mirror, (*row, *(int(i) for i in place))


def play(subject: Subject, data: Any, other: Any, seed: int, trials: int | None) -> Replayed:
    """Run on ``data``, replay on ``other``. Raises PathChanged when the outputs do not decide the path (DPA002)."""
    with simulate(seed, trials=trials, every_report=True) as channel:
        returned = subject.run(fresh(data), channel)
    with replay(channel) as pinned:
        again = subject.run(fresh(other), pinned)
    events, mirror = channel.events, pinned.events
    if len(events) != len(mirror):
        raise PathChanged(min(len(events), len(mirror)))
    for place, (event, twin) in enumerate(zip(events, mirror, strict=True)):
        same = event.name == twin.name and event.to == twin.to and _same_parameters(event, twin)
        if not same:
            raise PathChanged(place)
    if not _equal(subject.public(returned), subject.public(again)):
        raise PathChanged(len(events))
    return Replayed(events, mirror, returned, trials)


def _same_parameters(event: Event, twin: Event) -> bool:
    declared = np.array_equal(np.asarray(event.sensitivity, float), np.asarray(twin.sensitivity, float))
    return bool(event.noise == twin.noise and declared and event.cohort == twin.cohort)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    try:
        return bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))
    except (TypeError, ValueError):
        return bool(a == b)


def check_repeatable(subject: Subject, data: Any, seed: int) -> Finding | None:
    """Replayed on the same data, a subject must ask the same; else it has randomness, a clock or a memory of its own."""
    try:
        one = play(subject, data, data, seed, None)
    except PathChanged as changed:
        return Finding("DPA002", str(changed)[8:] + " although the data was the same", f"release {changed.release + 1}")
    for event, mirror in zip(one.events, one.mirror, strict=True):
        if event.to != "shuffled" and not np.array_equal(event.query, mirror.query):
            return Finding(
                "DPA002",
                f"release {event.name!r} asks something else when the same run is repeated: "
                "randomness, a clock or a memory that the channel does not know",
                event.name,
            )
    return None


@dataclass
class Observed:
    """What replay on neighbours saw of sensitivity."""

    findings: list[Finding] = field(default_factory=list)
    excess: dict[str, Fraction] = field(default_factory=dict)  # observed sensitivity where it exceeds the declared one

    def look(self, played: Replayed, data: Any, other: Any) -> None:
        for event, mirror in zip(played.events, played.mirror, strict=True):
            if event.to == "shuffled" or isinstance(event.sensitivity, np.ndarray):
                continue
            gap = np.abs(event.query - mirror.query)
            rows = gap.reshape(len(gap), -1) if played.trials is not None else gap.reshape(1, -1)
            largest = rows.sum(axis=1).max() if event.noise.norm == 1 else np.sqrt((rows.astype(float) ** 2).sum(axis=1).max())
            rounding = 0 if rows.shape[1] == 1 else int((rows > 0).sum(axis=1).max())
            observed = Fraction(int(np.ceil(largest)) - rounding) * event.noise.grid
            # a step more is what rounding to the grid may add, and what the door charges for it
            allowed = -(-event.sensitivity // event.noise.grid) * event.noise.grid
            if observed > allowed and observed > self.excess.get(event.name, Fraction(0)):
                if event.name not in self.excess:
                    declared = f"release {event.name!r} declares sensitivity {show(event.sensitivity)}"
                    message = f"{declared}; observed {show(observed)} on {describe(data)} against {describe(other)}"
                    self.findings.append(Finding("DPA003", message, event.name))
                self.excess[event.name] = observed


def far_replay(subject: Subject, seed: int, rng: np.random.Generator) -> Finding | None:
    """On arbitrary other data, with outputs pinned, nothing public may change."""
    pairs = subject.neighbours.pairs(rng)
    for data in subject.neighbours.others(rng):
        try:
            play(subject, pairs[0][0], data, seed, None)
        except PathChanged as changed:
            return Finding(
                "DPA002",
                str(changed)[8:] + " when the data was replaced by other data",
                f"release {changed.release + 1}",
            )
    return None
