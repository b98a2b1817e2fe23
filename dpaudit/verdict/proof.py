"""The upper half of a verdict: run a subject sealed, read its releases, and say what is proven and what that rests on."""

from __future__ import annotations

import dis
import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accountants.composition import account_releases
from dpaudit.accountants.sampling.repetitions import composed
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel import Channel, Doors, Plan
from dpaudit.claims import Bound, Claim, DpauditError, Finding, InvalidValue, Leak, Upper
from dpaudit.claims.leak_watch import watching
from dpaudit.ledger import Release
from dpaudit.sealed.array import living_seals
from dpaudit.sealed.runs import one_run
from dpaudit.subjects import foreign_randomness as outside
from dpaudit.subjects.sealed_search import refuse_sealed
from dpaudit.subjects.subject import Subject, fresh
from dpaudit.subjects.surviving_seals import find_memory, surviving_seals
from dpaudit.verdict.ready_plan import ReadyPlan, epsilon_at, ready_plan

simulate = Doors(amplified, composed).simulate  # a budget is kept here as a deployment keeps it
RUNS = 3  # sealed runs, each on other data and with other noise


@dataclass(frozen=True)
class Proof:
    """An upper bound, or the findings that stand in its way. ``bound``: of the runs that were made, or of the plan."""

    upper: Upper | None
    bound: Bound | None
    findings: Sequence[Finding]
    runs: Sequence[Sequence[Release]] = ()  # what each sealed run released
    untraced: str = ""  # what is not proven, and where its trace was lost
    planned: Sequence[Release] | None = None  # path single: what the bound is about, the releases of the declared plan
    ready: ReadyPlan | None = None  # a plan that would prove what no budget does

    @property
    def unproven(self) -> set[str]:
        """The releases whose sensitivity no trace proves."""
        return {release.name for run in self.runs for release in run if release.derived is None}

    def raised(self, observed: Mapping[str, Fraction], claim: Claim) -> Fraction:
        """The bound again, with the sensitivities that were observed where they exceed the declared ones."""
        runs = [[_with_sensitivity(r, observed.get(r.name)) for r in releases] for releases in self.runs]
        fixed = self.planned is not None
        return max(epsilon_at(account_releases(releases, claim.delta, fixed=fixed), claim) for releases in runs)


@dataclass
class _Run:
    data: Any
    seed: int
    releases: list[Release]
    findings: list[Finding]
    proven: bool
    untraced: list[Finding]


def prove(subject: Subject, claim: Claim, seed: int) -> Proof:
    """Sealed runs on audit-made data. ``proven``: every release's sensitivity came out of its trace.

    What the runs show holds for others only if nothing but the data and the door decides: else DPA002, and no bound.
    """
    with outside.watching() as watch:
        proof = _prove(subject, claim, seed)
    if not watch.sources or _has(proof.findings, "DPA002"):
        return proof
    return Proof(None, None, [*proof.findings, Finding("DPA002", str(watch), subject.name)], proof.runs, proof.untraced)


def _prove(subject: Subject, claim: Claim, seed: int) -> Proof:
    rng = np.random.default_rng([seed, 3])
    pairs = subject.neighbours.pairs(rng)
    runs: list[_Run] = []
    for place in range(RUNS):
        data = pairs[(place * 5) % len(pairs)][place % 2]
        try:
            runs.append(_run(subject, data, seed + place))
        except Exception as error:
            leak = leak_behind(error)
            if leak is None:
                raise
            return Proof(None, None, [Finding("DPA002", leak.detail, leak.where)])
    findings = _distinct([finding for run in runs for finding in run.findings])
    sensitivity = "proven" if all(run.proven for run in runs) else "declared"
    lost = _told([f for run in runs for f in run.untraced])
    releases = [run.releases for run in runs]
    try:
        bound = max((account_releases(run, claim.delta) for run in releases), key=lambda b: epsilon_at(b, claim))
        planned = None if subject.plan is None else _planned(subject.plan, releases, claim)
    except InvalidValue as missing:
        return Proof(None, None, [*findings, Finding("DPA005", str(missing), subject.name)])
    fits = planned is not None and epsilon_at(planned[1], claim) <= claim.epsilon
    enforced = not fits and epsilon_at(bound, claim) <= claim.epsilon and _enforced(subject, claim, runs)
    if planned is not None and not enforced:
        upper = Upper(epsilon_at(planned[1], claim), planned[1].method, sensitivity, "single")  # type: ignore[arg-type]
        return Proof(upper, planned[1], _with(findings, planned[1]), releases, lost, planned[0])
    # What the budget enforces is the budget: other paths may cost more than those that ran.
    figure = claim.epsilon if enforced else epsilon_at(bound, claim)
    upper = Upper(figure, bound.method, sensitivity, "enforced" if enforced else "observed")  # type: ignore[arg-type]
    ready = ready_plan(releases, claim) if sensitivity == "proven" and not enforced else None
    return Proof(upper, bound, _with(findings, bound), releases, lost, ready=ready)


def _planned(plan: Plan, runs: Sequence[Sequence[Release]], claim: Claim) -> tuple[Sequence[Release], Bound]:
    """The releases of a plan and what they cost; where a run proved a larger sensitivity, at that one."""
    releases = []
    for place, entry in enumerate(plan):
        same = [release for run in runs for release in _at_place(run, place, entry.name)]
        derived = [release.derived for release in same if release.derived is not None]
        proven = max(derived) if derived and len(derived) == len(same) else None
        releases.append(entry.release(proven, same[0].relation if proven is not None else None))
    return releases, account_releases(releases, claim.delta, fixed=True, limit=claim.epsilon)


def _at_place(run: Sequence[Release], place: int, name: str) -> list[Release]:
    """The release of a run that a plan has at this place; of a stream, whose record comes with its first sum, by its name."""
    here = list(run[place : place + 1])
    return here if not here or here[0].name == name else [release for release in run if release.name == name]


def _with(findings: Sequence[Finding], bound: Bound) -> list[Finding]:
    return _distinct([*findings, *(f for f in bound.findings if f.rule != "DPA003" or not _has(findings, "DPA003"))])


def _told(untraced: Sequence[Finding]) -> str:
    """What is not proven, and where; each place once."""
    places = dict.fromkeys(f"{finding.message} ({finding.where})" for finding in untraced)
    return "; ".join(places) or "the data was not sealed, as these neighbours give no bounds for it"


def _with_sensitivity(release: Release, observed: Fraction | None) -> Release:
    if observed is None or release.derived is not None or observed <= release.sensitivity:
        return release
    more = -(-(observed - release.sensitivity) // Fraction(release.parameters["grid"]))
    return replace(release, steps=(release.steps or 0) + more)


def leak_behind(error: BaseException | None) -> Leak | None:
    """The leak that ended a run. numpy reports some as errors of its own, with the leak as their cause."""
    while error is not None and not isinstance(error, Leak):
        error = error.__cause__
    return error


def _run(subject: Subject, data: Any, seed: int) -> _Run:
    seals = living_seals()
    with one_run(), watching() as noticed, simulate(seed, every_report=True) as channel, channel.audited():
        sealed = subject.neighbours.seal(data)
        try:
            returned = subject.run(fresh(data) if sealed is None else sealed, channel)
        except Exception as error:
            if noticed.leaks and leak_behind(error) is None:  # in its message, it may be
                raise noticed.leaks[0] from error
            raise
    if noticed.leaks:  # also one that the subject caught
        raise noticed.leaks[0]
    refuse_sealed(returned, _returned_at(subject), [] if sealed is None else [sealed, data])
    proven = sealed is not None
    del sealed, returned
    left = surviving_seals(seals, channel.events)
    if left:
        memory = find_memory(subject.function, left)
        raise Leak(str(memory), memory.where or _defined_at(subject), "a run may keep nothing of its data")
    if proven:
        _compare_with_plain(subject, data, seed, channel, noticed.changed_in_place)
    releases = [event.record for event in channel.events if event.record is not None]
    doubts = [
        Finding("untraced", f"{doubt.operation} fails on some data, and that would tell", doubt.where) for doubt in noticed.doubts
    ]
    proven = proven and not doubts and all(event.derived is not None for event in channel.events)
    return _Run(data, seed, releases, list(channel.findings), proven, [*channel.untraced, *doubts])


def _defined_at(subject: Subject) -> str:
    """file:line of its function; its name where that cannot be told."""
    code = getattr(inspect.unwrap(subject.function), "__code__", None)
    return subject.name if code is None else f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"


def _returned_at(subject: Subject) -> str:
    """file:line of its only ``return``; where there are several, or it yields, that of its function."""
    code = getattr(inspect.unwrap(subject.function), "__code__", None)
    if code is None or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return _defined_at(subject)
    lines = {step.positions.lineno for step in dis.get_instructions(code) if step.opname == "RETURN_VALUE" and step.positions}
    return f"{os.path.basename(code.co_filename)}:{lines.pop()}" if len(lines) == 1 else _defined_at(subject)


def _compare_with_plain(subject: Subject, data: Any, seed: int, sealed: Channel, changed_in_place: Sequence[str]) -> None:
    """The same run on plain data must ask the same: what is proven about sealed data is then true of plain data."""
    with simulate(seed, every_report=True) as plain:
        subject.run(fresh(data), plain)
    same = len(plain.events) == len(sealed.events) and all(
        a.name == b.name and np.array_equal(a.query, b.query) for a, b in zip(plain.events, sealed.events, strict=True)
    )
    if not same:
        rewrite = "release it through the channel"
        if changed_in_place:
            rewrite += f"; {changed_in_place[0]} changes an array in place, and its other names keep what it was: make a new one"
        raise Leak("telling sealed from plain data, or by randomness or state of its own", _defined_at(subject), rewrite)


def _enforced(subject: Subject, claim: Claim, runs: Sequence[_Run]) -> bool:
    """Behind a door for proven releases whose budget equals the claim, every path costs at most the claim. Does every one of
    these runs fit through it, under one filter?"""
    filters = ("pure-sums", "zcdp") if claim.delta else ("pure-sums",)
    return any(all(_fits(subject, claim, run, filter_) for run in runs) for filter_ in filters)


def _fits(subject: Subject, claim: Claim, run: _Run, filter_: str) -> bool:
    door = simulate(run.seed, budget=claim, filter=filter_, every_report=True, proven=True)
    try:
        with one_run(), watching(), door as channel:
            sealed = subject.neighbours.seal(run.data)
            subject.run(fresh(run.data) if sealed is None else sealed, channel)
    except DpauditError:  # over budget, or a release that is not proven
        return False
    return True


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    """One finding per rule and place."""
    firsts: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        firsts.setdefault((finding.rule, finding.where), finding)
    return list(firsts.values())


def _has(findings: Sequence[Finding], rule: str) -> bool:
    return any(finding.rule == rule for finding in findings)
