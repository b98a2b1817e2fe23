"""The paths that replay pinned: what an accountant makes of each, beside the exact loss that was seen on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

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
    left = MOST
    for place, replayed in replays:
        if any(event.hidden for event in replayed.events):
            continue  # what was asked after secret randomness is not repeated: its loss is nobody's
        for trial in range(replayed.trials or 1):
            releases = _releases(replayed, trial)
            left -= 0 if releases is None else len(releases)
            if left < 0:
                return
            if releases is not None:
                known = tuple(replace(r, steps=proven.get(_key(r), r.steps), cohort=Cohort.all()) for r in releases)
                transcript = Transcript(replayed.outputs(trial), replayed.seed)
                yield PinnedPath(known, _loss(replayed, trial), place, transcript)


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


def _releases(replayed: Replayed, trial: int) -> list[Release] | None:
    """What this trial released; None where its events do not say."""
    if any(event.to == "shuffled" for event in replayed.events):
        return None  # the loss of a shuffled batch is a score
    if replayed.trials is None:
        records = [event.record for event in replayed.events if event.record is not None]  # of a stream, its first sum has it
        return records or None
    if any(event.kind != "release" for event in replayed.events):
        return None
    rows = [(event, _row(event, trial)) for event in replayed.events]
    return [_record(event, row) for event, row in rows if row is not None]


def _row(event: Event, trial: int) -> int | None:
    """The place of a trial in what was released to some of them."""
    if event.index is None:
        return trial
    rows = np.flatnonzero(event.index == trial)
    return int(rows[0]) if len(rows) else None


def _record(event: Event, row: int) -> Release:
    """One trial of a release, with what rounding may add to each of its coordinates."""
    noise, size = event.noise.at(row), int(event.query[row].size)
    declared = event.sensitivity if isinstance(event.sensitivity, Fraction) else Fraction(float(event.sensitivity[row]))
    added = 0 if size <= 1 or not noise.norm else size - 1 if noise.norm == 1 else isqrt(size - 1) + 1
    return Release(
        name=event.name, mechanism=noise.name, parameters=noise.parameters(), sensitivity=declared, cohort=event.cohort,
        to=event.to, steps=int(-(-declared // noise.grid)) + added, coordinates=max(size, 1),
    )  # fmt: skip
