"""The lower half of a verdict: every auditor that fits the case, one after the other, strongest evidence first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dpaudit.auditors.interface import Attack, Auditor, Case
from dpaudit.auditors.registry import AUDITORS
from dpaudit.auditors.replay.replay_checks import path_finding
from dpaudit.auditors.runs.engine import Milestone
from dpaudit.auditors.runs.time_over import TimeOver
from dpaudit.channel import PathChanged
from dpaudit.claims import Lower
from dpaudit.claims.decimals import at_least


@dataclass(frozen=True)
class Stage:
    """An auditor that has ended, and all that is known by then."""

    auditor: str
    known: Attack


def attack(case: Case, auditors: Sequence[Auditor] = AUDITORS) -> Attack:
    """What is known when every stage has ended."""
    known = _nothing()
    for stage in stages(case, auditors):
        known = stage.known
        case.engine.tell(Milestone(_told(stage)))
    return known


def stages(case: Case, auditors: Sequence[Auditor] = AUDITORS) -> Iterator[Stage]:
    """Each stage as it ends. Whoever stops asking between two of them holds a valid attack: no later stage takes it back,
    but for one that finds replay void (DPA002), which says so."""
    known = _nothing()
    for place, auditor in enumerate(auditors):
        if not auditor.supports(case, known):
            continue
        try:
            if case.late:
                raise TimeOver
            known = auditor.attack(case, known)
        except TimeOver:
            untried = [later.name for later in auditors[place:] if later.supports(case, known)]
            yield Stage("time", replace(known, untried=[*known.untried, *untried]))
            return
        except PathChanged as changed:  # on a path so rare that only these many runs met it
            known = replace(known, findings=[*known.findings, path_finding(changed)])
        yield Stage(auditor.name, known)
        if known.interrupted:
            return


def _told(stage: Stage) -> str:
    """What is known by now, for a person who waits."""
    if stage.auditor == "time":
        return f"the time is over; not tried: {', '.join(stage.known.untried)}"
    rules = ", ".join(dict.fromkeys(finding.rule for finding in stage.known.findings))
    if stage.known.replays and stage.auditor == "replay":
        return f"replay: {len(stage.known.replays)} runs repeated on a neighbour; {rules or 'nothing but the door decides'}"
    shown = f"ε ≥ {at_least(stage.known.lower.epsilon)}" + (", which refutes the claim" if stage.known.refuted else "")
    return f"{stage.auditor}: {shown}" + (f"; {rules}" if rules else "")


def _nothing() -> Attack:
    return Attack(Lower(0.0, 1.0, "nothing was tried", 0))
