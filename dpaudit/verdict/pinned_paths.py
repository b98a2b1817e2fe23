"""The paths that replay pinned: what an accountant makes of each, beside the exact loss that was seen on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from dpaudit.accountants.composition import account_releases
from dpaudit.auditors.interface import Replays
from dpaudit.auditors.replay.pinned_runs import Replayed
from dpaudit.channel import Event, Transcript, replay
from dpaudit.claims import Claim, InvalidValue
from dpaudit.claims.leak_watch import watching
from dpaudit.ledger import Cohort, Release
from dpaudit.subjects.subject import Subject
from dpaudit.verdict.ready_plan import epsilon_at

MOST = 20_000  # releases that are read: beyond, further paths are left out
_SLACK = 1e-9  # of a loss that is known as a float only
Steps = dict[tuple[str, str, Fraction], int]


@dataclass(frozen=True)
class PinnedPath:
    """What one run released, and the largest loss of its joint view that its pair shows: exact, or rounded down."""

    releases: tuple[Release, ...]  # charged to everybody: what plain data declares of cohorts may be wrong
    loss: Fraction
    place: int  # of its pair
    transcript: Transcript

    def pure_epsilon(self) -> Fraction | None:
        """What the releases cost at δ = 0; None where that is unbounded."""
        try:
            return account_releases(self.releases, Fraction(0)).epsilon
        except InvalidValue:
            return None

    def epsilon(self, claim: Claim) -> Fraction | None:
        """What they cost at the claim's δ, for its observer."""
        try:
            return epsilon_at(account_releases(self.releases, claim.delta), claim)
        except InvalidValue:
            return None


def pinned_paths(replays: Replays, runs: Sequence[Sequence[Release]]) -> Iterator[PinnedPath]:
    """The paths of these replays. ``runs``: sealed ones, whose proven steps count where they say the same of a release.

    Paths that release batches of reports over many trials are left out: their events hold sums only.
    """
    proven: Steps = {}
    for run in runs:
        for release in run:
            proven[_key(release)] = max(proven.get(_key(release), 0), release.steps or 0)
    left, known = MOST, _Known(proven)
    for place, replayed in replays:
        if any(event.hidden for event in replayed.events):
            continue  # what was asked after secret randomness is not repeated: its loss is nobody's
        records: dict[int, Release | None] = {}
        for trial in range(replayed.trials or 1):
            releases = _releases(replayed, trial, records)
            left -= 0 if releases is None else len(releases)
            if left < 0:
                return
            if releases is not None:
                transcript = Transcript(replayed.outputs(trial), replayed.seed)
                yield PinnedPath(tuple(map(known.of, releases)), _loss(replayed, trial), place, transcript)


def sealed_epsilon(subject: Subject, data: Any, path: PinnedPath, claim: Claim) -> Fraction | None:
    """What the path costs with the cohorts and sensitivities that sealed data proves; None where it does not repeat so."""
    sealed = subject.neighbours.seal(data)
    if sealed is None:
        return None
    with suppress(Exception), watching(), replay(path.transcript) as channel:  # its own errors show nothing here
        subject.run(sealed, channel)
        records = [event.record for event in channel.events]
        return epsilon_at(account_releases([record for record in records if record is not None], claim.delta), claim)
    return None


def _key(release: Release) -> tuple[str, str, Fraction]:
    return release.name, release.mechanism, release.sensitivity


def _loss(replayed: Replayed, trial: int) -> Fraction:
    exact = replayed.exact_loss(trial)
    if exact is not None:
        return abs(exact)
    return Fraction(max(abs(float(replayed.losses()[trial])) * (1 - _SLACK) - _SLACK, 0.0))


@dataclass
class _Known:
    """Releases as they are accounted: charged to everybody, at the proven steps. Equal ones are one object, made once."""

    proven: Steps
    _made: dict[int, tuple[Release, Release]] = field(default_factory=dict)  # by identity, which the first of both keeps alive
    _equal: dict[Release, Release] = field(default_factory=dict)

    def of(self, release: Release) -> Release:
        if id(release) not in self._made:
            made = replace(release, steps=self.proven.get(_key(release), release.steps), cohort=Cohort.all())
            self._made[id(release)] = release, self._equal.setdefault(made, made)
        return self._made[id(release)][1]


def _releases(replayed: Replayed, trial: int, records: dict[int, Release | None]) -> list[Release] | None:
    """What this trial released; None where its events do not say. ``records``: of events that are the same in all trials."""
    if any(event.to == "shuffled" for event in replayed.events):
        return None  # the loss of a shuffled batch is a score
    if replayed.trials is None:
        own = [event.record for event in replayed.events if event.record is not None]  # of a stream, its first sum has it
        return own or None
    if any(event.kind != "release" for event in replayed.events):
        return None
    rows = [(number, event, replayed.row(number, trial)) for number, event in enumerate(replayed.events)]
    return [_shared(number, event, row, records) for number, event, row in rows if row is not None]


def _shared(number: int, event: Event, row: int, records: dict[int, Release | None]) -> Release:
    """One trial's release; made once where noise and sensitivity are those of all trials, and noted as None where not."""
    if number not in records:
        same = event.noise.at(row) == event.noise and isinstance(event.sensitivity, Fraction)
        records[number] = _record(event, row) if same else None
    return records[number] or _record(event, row)


def _record(event: Event, row: int) -> Release:
    """One trial of a release, with what rounding may add to each of its coordinates."""
    noise, size = event.noise.at(row), int(event.query[row].size)
    declared = event.sensitivity if isinstance(event.sensitivity, Fraction) else Fraction(float(event.sensitivity[row]))
    added = 0 if size <= 1 or not noise.norm else size - 1 if noise.norm == 1 else isqrt(size - 1) + 1
    return Release(
        name=event.name, mechanism=noise.name, parameters=noise.parameters(), sensitivity=declared, cohort=event.cohort,
        to=event.to, steps=int(-(-declared // noise.grid)) + added, coordinates=max(size, 1),
    )  # fmt: skip
