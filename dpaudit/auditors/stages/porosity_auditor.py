"""Floating-point noise of a black box: does a low bit of its outputs tell neighbours apart?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.auditors.floats.float_runs import FloatRuns, most_central
from dpaudit.auditors.floats.ideal_outputs import with_outputs_as_they_are
from dpaudit.auditors.floats.subject_porosity import FEW_RUNS, FEW_RUNS_VECTORISED, SubjectTest, search_event
from dpaudit.auditors.interface import Attack, Case
from dpaudit.auditors.pairs.pair_names import pair_name
from dpaudit.auditors.runs.time_over import TimeOver
from dpaudit.auditors.runs.transcripts import child
from dpaudit.auditors.stages.statistical_witness import round_down
from dpaudit.auditors.wording import beating, describe
from dpaudit.claims import Lower

STAGES = 2  # few runs, then as many as the game has; the error is split over them
IDEAL = "; a note, as the claim is about ideal arithmetic"
NOTE = 0.01  # the error of a finding that refutes nothing


@dataclass(frozen=True)
class PorosityAuditor:
    """For subjects that draw their own noise; behind a door it lies on a grid.

    An event of low bits refutes a claim about floats as any other event does. To a claim about ideal arithmetic, and to one that
    is refuted already, it is a note.
    """

    name: str = "porosity"

    def supports(self, case: Case, known: Attack) -> bool:
        return not case.subject.grey

    def attack(self, case: Case, known: Attack) -> Attack:
        finding = None
        try:
            for test in _tests(case, note=case.claim.ideal or known.refuted):
                level = test.counts.epsilon(case.float_error / STAGES, float(case.claim.delta)) if case.float_error else 0.0
                if not known.refuted and level > float(case.claim.epsilon):
                    return _refuted(case, known, test, level)
                finding = finding or test.finding(NOTE / STAGES)
        except TimeOver:
            known = replace(known, untried=[*known.untried, self.name])
        if finding is None:
            return known
        note = replace(finding, message=finding.message + IDEAL) if case.claim.ideal else finding
        return replace(known, findings=[*known.findings, note])


def _tests(case: Case, *, note: bool) -> Iterator[SubjectTest]:
    """Few runs first: most porous noise shows in them. A note is worth no more than those."""
    subject = with_outputs_as_they_are(case.subject)
    few = min(case.samples, FEW_RUNS_VECTORISED if subject.vectorised else FEW_RUNS)
    sizes = [few] if note or few == case.samples else [few, case.samples]
    pair = most_central(subject, case.pairs, case.seed)
    for stage, samples in enumerate(sizes):
        runs = FloatRuns(subject, pair, child(case.seed, 6, stage))
        test = search_event(runs, samples, case.claim, case.engine)
        if test is not None:
            yield test


def _refuted(case: Case, known: Attack, test: SubjectTest, level: float) -> Attack:
    shown, counts = round_down(level), test.counts
    lower = Lower(round_down(counts.epsilon(1 - case.confidence, float(case.claim.delta))), case.confidence, METHOD, test.samples)
    figures = f"{counts.hits:,} of {counts.runs:,} runs against {counts.other_hits:,} of {counts.other_runs:,}"
    proven = f"the lower bound {beating(Fraction(level), case.claim.epsilon)}at confidence 1−10^-6"
    reason = f"{test.event.words()}: {figures}; {proven} exceeds {float(case.claim.epsilon):.6g}"
    better = lower if lower.epsilon > known.lower.epsilon else known.lower
    return replace(
        known, lower=better, refuted=True, level=shown, witness=_witness(case, test, shown), reason=reason,
        findings=[*known.findings, test.as_finding()],
    )  # fmt: skip


METHOD = "event of low bits, chosen on other runs"


def _witness(case: Case, test: SubjectTest, level: float) -> dict[str, Any]:
    """The event, its counts, and what it takes to draw them again. D is the data set where it is the more frequent."""
    pair, counts = test.runs.pair, test.counts
    place = next(place for place, (first, second) in enumerate(case.pairs) if first is pair[0] and second is pair[1])
    first, second = pair[::-1] if test.turned else pair
    return {
        "kind": "low bits", "observer": case.claim.observer, "data": describe(first), "neighbour": describe(second),
        "event": test.event.words(), "probability": round(counts.hits / counts.runs, 6),
        "neighbour_probability": round(counts.other_hits / counts.other_runs, 6),
        "hits": counts.hits, "neighbour_hits": counts.other_hits,
        "epsilon": level, "confidence": 1 - case.error, "samples": test.samples, "seed": test.runs.seed,
        "swapped": test.turned,
        "low_bits": test.event.to_dict(),
        "pair": pair_name(case.subject.neighbours, pair, place, case.seed, swapped=test.turned),
    }  # fmt: skip
