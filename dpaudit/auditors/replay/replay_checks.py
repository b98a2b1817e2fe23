"""What replay tells before any attack: does a run repeat, do other data take its path, and how far do queries move?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.auditors.replay.output_comparison import compare_outputs
from dpaudit.auditors.replay.pinned_runs import Observed, Replayed, far_replay, play
from dpaudit.auditors.replay.repeatability import check_memory, check_repeatable, mixed_data
from dpaudit.channel import PathChanged
from dpaudit.claims import Finding
from dpaudit.subjects import foreign_randomness as outside
from dpaudit.subjects.subject import Subject

WITNESS_TRIALS = 64
Pairs = Sequence[tuple[Any, Any]]


@dataclass
class ReplayChecks:
    """The runs that were replayed, with the place of their pair, and what was noticed; one DPA002 at most."""

    replays: list[tuple[int, Replayed]] = field(default_factory=list)
    observed: Observed = field(default_factory=Observed)
    findings: list[Finding] = field(default_factory=list)


def check_by_replay(subject: Subject, pairs: Pairs, seed: int, rng: np.random.Generator) -> ReplayChecks:
    """Replay on the same data, on every pair, and on far data that ``rng`` draws; until something other than the door decides."""
    checks = ReplayChecks()
    with outside.watching() as watch:
        finding = check_repeatable(subject, mixed_data(subject, pairs, seed), seed)
        finding = finding or _replay_pairs(subject, pairs, seed, checks) or far_replay(subject, seed, rng)
        finding = finding or check_memory(subject, mixed_data(subject, pairs, seed), seed)
    finding = finding or compare_outputs(subject, pairs, seed)
    if finding is None and watch.sources:
        finding = Finding("DPA002", str(watch), subject.name)
    checks.findings += [] if finding is None else [finding]
    return checks


def _replay_pairs(subject: Subject, pairs: Pairs, seed: int, checks: ReplayChecks) -> Finding | None:
    trials = WITNESS_TRIALS if subject.vectorised else None
    for place, (data, other) in enumerate(pairs):
        for repeat in range(1 if trials else 8):
            try:
                one = play(subject, data, other, seed + 1000 * place + repeat, _fewer(subject, trials))
            except PathChanged as changed:
                return path_finding(changed)
            if (moved := _moved_bounds(one)) is not None:
                return moved
            checks.replays.append((place, one))
            checks.observed.look(one, data, other)
    return None


def _moved_bounds(one: Replayed) -> Finding | None:
    """A subject that seals data itself must not take the bounds from the data: a trace is about those bounds alone."""
    for event, mirror in zip(one.events, one.mirror, strict=True):
        if event.derived != mirror.derived:
            message = (
                f"the bounds that release {event.name!r} is sealed with change with the data; bounds must be public constants"
            )
            return Finding("DPA002", message, event.name)
    return None


def path_finding(changed: PathChanged) -> Finding:
    """Neighbours with the same outputs took different paths."""
    return Finding("DPA002", changed.detail + " on neighbouring data", f"release {changed.release + 1}")


def _fewer(subject: Subject, trials: int | None) -> int | None:
    limit = subject.notes.get("witness trials")
    return trials if trials is None or limit is None else min(trials, int(limit))
