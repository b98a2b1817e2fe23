"""The porosity test of a black box: its columns watched in a few runs, then an event of one of them, chosen and counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpaudit.auditors.floats.float_runs import FloatRuns, watch
from dpaudit.auditors.floats.low_bits import LowBitEvent
from dpaudit.auditors.floats.porosity import RULE, EventCounts, EventTest, choose_and_test
from dpaudit.auditors.runs.engine import HERE, Engine
from dpaudit.claims import Claim, Finding
from dpaudit.subjects.subject import Subject

COLUMNS = 32  # of a returned array that are tested
FEW_RUNS, FEW_RUNS_VECTORISED = 2_000, 20_000  # per side, with which a test begins


@dataclass(frozen=True)
class SubjectTest:
    """An event of one column of a subject's outputs, counted on fresh runs. ``turned``: it is the neighbour's."""

    runs: FloatRuns
    samples: int
    test: EventTest
    where: str

    @property
    def event(self) -> LowBitEvent:
        """Of the column as the subject returns it."""
        return replace(self.test.event, column=self.runs.columns[self.test.event.column])

    @property
    def turned(self) -> bool:
        return self.test.turned

    @property
    def counts(self) -> EventCounts:
        return self.test.counts()

    def finding(self, alpha: float) -> Finding | None:
        """DPA006, if the event is porous but for an error of ``alpha``."""
        return self.as_finding() if self.test.porous(alpha) else None

    def as_finding(self) -> Finding:
        return Finding(RULE, self.test.message(), self.where)


def search_event(runs: FloatRuns, samples: int, claim: Claim, engine: Engine = HERE) -> SubjectTest | None:
    """``samples`` runs per side; None where nothing promises to tell the data sets apart."""
    columns = watch(runs.subject, runs.pair, runs.seed)[:COLUMNS]
    if not columns:
        return None
    watched = replace(runs, columns=tuple(place for place, _ in columns))
    first, second = watched.tables(2 * samples, engine)
    sides = [(first[:, place], second[:, place]) for place in range(len(columns))]
    test = choose_and_test(sides, [noises for _, noises in columns], float(claim.epsilon), float(claim.delta))
    if test is None:
        return None
    one = len(columns) == 1
    where = "returned value" if one else f"returned value, column {watched.columns[test.event.column] + 1}"
    return SubjectTest(watched, samples, test, where)


def count_event(runs: FloatRuns, samples: int, event: LowBitEvent, engine: Engine = HERE) -> EventCounts:
    """Of an event that is known before the runs are drawn."""
    first, second = replace(runs, columns=(event.column,)).tables(2 * samples, engine)
    here, there = (event.holds(side[:, 0]) for side in (first, second))
    return EventCounts(int(here.sum()), len(here), int(there.sum()), len(there))


def audit_porosity(
    subject: Subject,
    pair: tuple[Any, Any],
    *,
    seed: int,
    samples: int | None = None,
    alpha: float = 0.01,
    claim: Claim | None = None,
) -> Finding | None:
    """DPA006 for a black box that returns floats, on ``samples`` runs per side; None for a grey box, whose door has a lattice."""
    if subject.grey:
        return None
    few = FEW_RUNS_VECTORISED if subject.vectorised else FEW_RUNS
    test = search_event(FloatRuns(subject, pair, seed), samples or few, claim or subject.claim)
    return None if test is None else test.finding(alpha)
