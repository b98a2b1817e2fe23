"""Examines a subject: proves an upper bound, attacks for a lower one, decides. All that comes of it is one value."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.auditors.attack import attack
from dpaudit.auditors.floats.ideal_outputs import with_ideal_outputs
from dpaudit.auditors.games.loss_runs import drawn_losses
from dpaudit.auditors.games.play import MOST_SAMPLES
from dpaudit.auditors.interface import REFUTE, Attack, Case
from dpaudit.auditors.pairs.sensitivity_search import search_sensitivity
from dpaudit.auditors.runs.engine import Engine, Milestone
from dpaudit.auditors.runs.raised_outputs import RaisedOutputs, notes_on, with_raised_outputs
from dpaudit.auditors.runs.scheduler import connected
from dpaudit.auditors.runs.time_over import TimeOver, with_time_limit
from dpaudit.auditors.stages.game_auditor import ReturnedGame
from dpaudit.auditors.stages.replay_auditor import ReplayAuditor
from dpaudit.auditors.witness_check import recheck
from dpaudit.channel import NotPlanned
from dpaudit.claims import Claim, DpauditError, Finding, InvalidValue, Leak, Lower, Number, Outcome, Verdict, exact, whole
from dpaudit.claims.decimals import at_most
from dpaudit.subjects.output_watch import counting_output
from dpaudit.subjects.subject import Subject
from dpaudit.verdict.decision import decide
from dpaudit.verdict.proof import Proof, leak_behind, prove
from dpaudit.verdict.release_places import at_their_lines
from dpaudit.verdict.time_limit import read_seconds


@dataclass(frozen=True)
class Options:
    """How to examine. What is not said about the claim is the subject's own.

    ``samples``: runs per side. ``seed``: without one, one is drawn and reported. ``witness``: of an earlier verdict, to be
    checked again; nothing else is looked at then.
    ``sequential``: an e-process in place of the game, which stops as soon as it refutes, or at Ctrl-C.
    ``workers``: processes for the runs (default: one for each core); ``scheduler``: the address of a dask.distributed scheduler
    that has them run elsewhere. Neither changes any result.
    ``error``: the probability of refuting an honest subject by statistics; several audits of one gate share 10^-6.
    ``arithmetic``: "float" for the code as it runs, "ideal" for real numbers.
    ``time``: "60s", "2m" or seconds, after which no stage starts and none goes on, but for the chunk of runs that it is at;
    what stages that had ended know holds, errors are as planned, and the verdict says what was not tried. Off by default.
    ``progress``: is told what is being done and, as a ``Milestone``, what is known after the proof and after each stage.
    ``picture``: draw runs for a histogram of losses too, where no game was played.
    """

    epsilon: Number | None = None
    delta: Number | None = None
    observer: str | None = None
    confidence: float = 0.95
    samples: int | None = None
    seed: int | None = None
    witness: Mapping[str, Any] | None = None
    sequential: bool = False
    workers: int | None = None
    scheduler: str | None = None
    error: float = REFUTE
    picture: bool = False
    progress: Callable[[str], None] = lambda _: None
    arithmetic: str | None = None
    time: Number | None = None


@dataclass(frozen=True)
class Examination:
    """A verdict, and what it rests on."""

    verdict: Verdict
    proof: Proof
    attack: Attack


def examine(subject: Subject, options: Options) -> Examination:
    """Prove, attack, decide. Raises InvalidValue for options out of range, Contradiction when a proven upper bound lies below a
    lower bound. Interrupted: the verdict holds as far as it goes, and ``attack.interrupted`` says so."""
    if not isinstance(subject, Subject):
        raise InvalidValue("subject", type(subject).__name__, "a function declared with @dp.subject")
    started, limit = time.perf_counter(), None if options.time is None else read_seconds(options.time)
    deadline = None if limit is None or options.witness is not None else time.monotonic() + limit
    timed = with_time_limit(subject, deadline) if options.scheduler is None else subject  # clocks elsewhere are not this one
    case = _case(with_raised_outputs(timed), options, deadline)
    if options.witness is not None:
        examination = _examine_witness(case, options.witness)
    else:
        try:
            examination = _examine(case, options)
        except NotPlanned as refused:
            examination = _unplanned(case, refused)
        except Exception as error:
            leak = leak_behind(error)
            if leak is None:
                raise
            examination = _leaked(case, leak)
    return replace(examination, verdict=replace(examination.verdict, seconds=time.perf_counter() - started))


def _examine(case: Case, options: Options) -> Examination:
    subject = case.subject
    remote_workers = connected(options.scheduler) if options.scheduler is not None else nullcontext()
    with remote_workers as remote, counting_output():
        engine = replace(case.engine, remote=remote)
        proof = prove(subject, case.claim, case.seed) if subject.grey else Proof(None, None, [])
        if subject.grey:
            options.progress(Milestone(_proven(proof)))
        shown = _attack(replace(case, engine=engine, search=not _settles(proof, case.claim)), proof)
        shown = _complete(case, proof, shown, picture=options.picture)
    verdict = _stopped(case, shown, decide(subject, case.claim, proof, shown, case.seed))
    verdict = replace(verdict, findings=at_their_lines(subject, verdict.findings, case.seed))
    return Examination(verdict if subject.grey else _noted(case, verdict), proof, shown)


def _attack(case: Case, proof: Proof) -> Attack:
    """What runs show. Where private data is known to leave by another way, a subject that cannot be run shows nothing more."""
    try:
        return attack(case)
    except Exception:
        if all(finding.rule != "DPA002" for finding in proof.findings):
            raise
    try:
        return _attack_raised(case)
    except Exception:  # that every run raises, or what cannot be compared
        return Attack(Lower(0.0, 1.0, "nothing was tried: a run on plain data failed, or returned what cannot be compared", 0))


def _attack_raised(case: Case) -> Attack:
    """A game on what a subject returns or raises, where replay ends with what it raises."""
    raising = with_raised_outputs(case.subject, grey=True)
    if case.sequential or not isinstance(raising.function, RaisedOutputs):
        raise DpauditError("only single runs say which of them raised")
    nothing = Attack(Lower(0.0, 1.0, "nothing yet", 0))
    shown = ReturnedGame().attack(replace(case, subject=raising), nothing)
    raising.function.check_some_return()
    return shown


def _unplanned(case: Case, refused: NotPlanned) -> Examination:
    """A subject that asks for what is not in its plan: a door lets nothing pass that is, and there is nothing to attack."""
    proof, shown = Proof(None, None, []), Attack(Lower(0.0, 1.0, "nothing was tried: a run broke its plan", 0))
    verdict = decide(case.subject, case.claim, proof, shown, case.seed)
    return Examination(replace(verdict, reason=f"it does not keep to its plan: {refused}"), proof, shown)


def _leaked(case: Case, leak: Leak) -> Examination:
    """Sealed data of one run that turned up in another: what is kept between runs was met by the attack first."""
    proof = Proof(None, None, [Finding("DPA002", leak.detail, leak.where or case.subject.name)])
    shown = Attack(Lower(0.0, 1.0, "nothing was tried: private data left by another way", 0))
    return Examination(decide(case.subject, case.claim, proof, shown, case.seed), proof, shown)


def _case(subject: Subject, options: Options, deadline: float | None) -> Case:
    """The options, read exactly and within their ranges."""
    own = subject.claim
    claim = Claim(
        own.epsilon if options.epsilon is None else options.epsilon,
        own.delta if options.delta is None else options.delta,
        own.observer if options.observer is None else options.observer,
        own.arithmetic if options.arithmetic is None else options.arithmetic,
    )
    attacked = with_ideal_outputs(subject) if claim.ideal and not subject.grey else subject
    confidence = exact(options.confidence, "confidence")
    if not 0 < confidence < 1:
        raise InvalidValue("confidence", options.confidence, "between 0 and 1")
    if not 0 < options.error <= REFUTE:
        raise InvalidValue("error", options.error, "above 0 and at most 10^-6")
    samples = default_samples(subject) if options.samples is None else whole(options.samples, "samples", 100, MOST_SAMPLES)
    seed = secrets.randbits(31) if options.seed is None else whole(options.seed, "seed", 0)
    workers = None if options.workers is None else whole(options.workers, "workers")
    engine = Engine(workers, tell=options.progress, deadline=deadline)
    return Case(attacked, claim, float(confidence), samples, seed, engine, sequential=options.sequential, error=options.error)


def default_samples(subject: Subject) -> int:
    """Runs per side where nobody says how many; more are made where they decide nothing."""
    return 100_000 if subject.vectorised else 10_000


def _proven(proof: Proof) -> str:
    """What is known before any attack."""
    if proof.upper is None:
        return "proof: no upper bound"
    return f"proof: ε ≤ {at_most(proof.upper.epsilon)}, sensitivity {proof.upper.sensitivity}, path {proof.upper.path}"


def _noted(case: Case, verdict: Verdict) -> Verdict:
    """The verdict on a black box, with what its runs showed of it. Raises what it raises where it never returns."""
    notes: Sequence[str] = ()
    if not case.late:
        with suppress(TimeOver):
            notes = notes_on(case.subject, case.pairs[0])
    return replace(verdict, reason="; ".join([verdict.reason, *notes]))


def _stopped(case: Case, shown: Attack, verdict: Verdict) -> Verdict:
    """The verdict, with what there was no time for. Without replay nothing is certified: what decides was not looked at."""
    if not shown.untried:
        return verdict
    left = f"the time was over, not tried: {', '.join(dict.fromkeys(shown.untried))}"
    if case.subject.grey and ReplayAuditor.name in shown.untried and verdict.verdict is Outcome.CERTIFIED:
        return replace(verdict, verdict=Outcome.UNPROVEN, reason=left, stopped="time")
    return replace(verdict, reason=f"{verdict.reason}; {left}", stopped="time")


def _examine_witness(case: Case, witness: Mapping[str, Any]) -> Examination:
    """A witness either refutes or it says nothing: what it does not refute is not certified by that."""
    played = case.subject.grey and witness.get("kind") == "statistics"  # a game may have been on what it raises
    subject = with_raised_outputs(case.subject, grey=True) if played else case.subject
    proof, shown = Proof(None, None, []), recheck(subject, case.claim, witness)
    verdict = decide(case.subject, case.claim, proof, shown, case.seed)
    if not shown.refuted:
        verdict = replace(verdict, reason=f"{shown.reason}; nothing else was looked at")
    return Examination(verdict, proof, shown)


def _settles(proof: Proof, claim: Claim) -> bool:
    """Is every pair of neighbours proven to stay within the claim, so that a search for one that does not is in vain?"""
    upper = proof.upper
    return (
        upper is not None and upper.sensitivity == "proven" and upper.path != "observed" and upper.epsilon <= claim.epsilon
    )  # fmt: skip


def _complete(case: Case, proof: Proof, shown: Attack, *, picture: bool) -> Attack:
    """The sensitivities that no trace proves, searched; and losses for a picture, where no game was played."""
    if shown.interrupted:
        return shown
    leaks = shown.finds("DPA002") or any(finding.rule == "DPA002" for finding in proof.findings)
    doubtful = proof.unproven or any(finding.rule == "DPA003" for finding in proof.findings)
    if doubtful and not leaks and case.late:
        shown = replace(shown, untried=[*shown.untried, "a search for larger sensitivities"])
    elif doubtful and not leaks:
        more = search_sensitivity(case.subject, case.seed, shown.observed)
        shown = replace(shown, findings=[*shown.findings, *more])
    if picture and not case.late and shown.losses is None and not shown.finds("DPA002"):
        with suppress(TimeOver):
            shown = replace(shown, losses=drawn_losses(case.subject, case.claim, shown.witness, case.seed))
    return shown
