"""Joins the two bounds: claim, upper, lower and evidence make a verdict, decided in the order of the design."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.auditors.attack import REFUTE, Attack, attack
from dpaudit.auditors.games.loss_runs import drawn_losses
from dpaudit.auditors.games.play import MOST_SAMPLES
from dpaudit.auditors.pairs.sensitivity_search import search_sensitivity
from dpaudit.auditors.replay.pinned_runs import Observed
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.scheduler import connected
from dpaudit.auditors.witness_check import recheck
from dpaudit.auditors.wording import beating
from dpaudit.claims import (
    Claim,
    Contradiction,
    DpauditError,
    Finding,
    InvalidValue,
    Number,
    Outcome,
    Upper,
    Verdict,
    exact,
    whole,
)
from dpaudit.subjects.subject import Subject
from dpaudit.verdict.proof import Proof, prove

BLOCKING = ("DPA002", "DPA005", "DPA006")
REQUIREMENTS = ("certified", "not-refuted")


def audit(
    subject: Subject,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    observer: str | None = None,
    confidence: float = 0.95,
    samples: int | None = None,
    seed: int | None = None,
    witness: Mapping[str, Any] | None = None,
    sequential: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    error: float = REFUTE,
    picture: bool = False,
    progress: Callable[[str], None] = lambda _: None,
    evidence: Callable[[Proof, Attack], None] = lambda _proof, _attack: None,
) -> Verdict:
    """Prove, attack, decide. ``samples`` is runs per side; without ``seed`` one is drawn and reported.

    ``witness``: of an earlier verdict, to be checked again; nothing else is looked at then.
    ``sequential``: an e-process in place of the game, which stops as soon as it refutes; Ctrl-C raises Interrupted, with the
    verdict so far. ``workers``: processes for the runs (default: one for each core); ``scheduler``: the address of a
    dask.distributed scheduler that has them run elsewhere. Neither changes any result.
    ``error``: the probability of refuting an honest subject by statistics; several audits of one gate share 10^-6.
    ``picture``: draw runs for a histogram of losses too, where no game was played.
    ``evidence`` is handed the proof and the attack that the verdict rests on.
    Raises Contradiction when a proven upper bound lies below a lower bound.
    """
    if not isinstance(subject, Subject):
        raise InvalidValue("subject", type(subject).__name__, "a function declared with @dp.subject")
    started = time.perf_counter()
    claim = Claim(
        subject.claim.epsilon if epsilon is None else epsilon,
        subject.claim.delta if delta is None else delta,
        subject.claim.observer if observer is None else observer,
    )
    level = exact(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidValue("confidence", confidence, "between 0 and 1")
    if not 0 < error <= REFUTE:
        raise InvalidValue("error", error, "above 0 and at most 10^-6")
    runs = whole(samples, "samples", 100, MOST_SAMPLES) if samples is not None else (100_000 if subject.vectorised else 10_000)
    seed = secrets.randbits(31) if seed is None else whole(seed, "seed", 0)
    engine = Engine(None if workers is None else whole(workers, "workers"), tell=progress)
    if witness is not None:
        return replace(_replayed(subject, claim, witness, seed), seconds=time.perf_counter() - started)
    with connected(scheduler) if scheduler is not None else nullcontext() as remote:
        proof = prove(subject, claim, seed) if subject.grey else Proof(None, None, [])
        found = attack(
            subject, claim, confidence=float(level), samples=runs, seed=seed, engine=replace(engine, remote=remote),
            search=not _settled(proof, claim), sequential=sequential, error=error,
        )  # fmt: skip
    doubtful = proof.unproven or any(f.rule == "DPA003" for f in proof.findings)
    if doubtful and not found.interrupted and not any(f.rule == "DPA002" for f in (*proof.findings, *found.findings)):
        found.findings += search_sensitivity(subject, seed, found.observed)
    if picture and found.losses is None and not found.interrupted and not any(f.rule == "DPA002" for f in found.findings):
        found.losses = drawn_losses(subject, claim, found.witness, seed)
    verdict = replace(decide(subject, claim, proof, found, seed), seconds=time.perf_counter() - started)
    if found.interrupted:
        raise Interrupted(verdict)
    evidence(proof, found)
    return verdict


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a sequential audit. Its verdict holds: the bound of an e-process is valid whenever it is stopped."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.reason)


def _replayed(subject: Subject, claim: Claim, witness: Mapping[str, Any], seed: int) -> Verdict:
    """A witness either refutes or it says nothing: what it does not refute is not certified by that."""
    found = recheck(subject, claim, witness)
    verdict = decide(subject, claim, Proof(None, None, []), found, seed)
    if found.refuted:
        return verdict
    return replace(verdict, reason=f"{found.reason}; nothing else was looked at")


def decide(subject: Subject, claim: Claim, proof: Proof, found: Attack, seed: int) -> Verdict:
    """Refuted before certified before unproven."""
    upper = _upper(proof, found, claim)
    findings = _findings(proof, found)
    _check_contradiction(upper, found, claim)
    if found.refuted:
        rules = {finding.rule for finding in findings}
        if "DPA004" not in rules:
            findings.append(
                Finding(
                    "DPA004",
                    f"the lower bound {beating(_shown(found), claim.epsilon)}beats the claim {claim}",
                    subject.name,
                )
            )
        outcome, reason = Outcome.REFUTED, found.reason + ("" if found.exact is None else _by_rounding(found.exact, claim))
    elif found.interrupted:
        outcome, reason = Outcome.UNPROVEN, found.reason
    else:
        missing = _missing(claim, upper, findings, subject, proof.untraced)
        outcome = Outcome.UNPROVEN if missing else Outcome.CERTIFIED
        reason = missing or _why_certified(claim, upper)
    return Verdict(
        outcome,
        claim,
        found.lower,
        upper,
        findings,
        found.witness,
        subject.name,
        subject.neighbours.name,
        seed,
        found.detectable,
        reason,
        losses=found.losses,
    )


def _settled(proof: Proof, claim: Claim) -> bool:
    """Is every pair of neighbours proven to stay within the claim, so that a search for one that does not is in vain?"""
    upper = proof.upper
    proven = upper is not None and upper.sensitivity == "proven" and upper.path != "observed"
    return proven and upper is not None and upper.epsilon <= claim.epsilon


def _why_certified(claim: Claim, upper: Upper | None) -> str:
    """One sentence for a person."""
    path = (
        "its releases are fixed in advance"
        if upper and upper.path == "single"
        else f"a door with the budget {claim} for proven releases bounds every path"
    )
    return f"each release's sensitivity is proven by its trace, and {path}"


def _upper(proof: Proof, found: Attack, claim: Claim) -> Upper | None:
    """The proven bound, raised where replay observed more than was declared; none where data left by another way."""
    upper = proof.upper
    if upper is None or any(f.rule == "DPA002" for f in found.findings):
        return None
    if found.refuted and upper.path == "enforced":
        return None  # without that budget, paths were found that cost more
    if upper.sensitivity == "proven":
        return upper
    seen = found.observed
    epsilon = max(upper.epsilon, proof.raised(seen.excess, claim)) if seen.excess else upper.epsilon
    tested = proof.unproven <= seen.largest.keys() - seen.unseen
    return replace(upper, epsilon=epsilon, sensitivity="tested" if tested else "declared")


def _findings(proof: Proof, found: Attack) -> list[Finding]:
    """One finding per rule and place. Where a trace exceeds what is declared, a pair that does is shown, if one was seen."""
    merged: dict[tuple[str, str], Finding] = {}
    rules = {finding.rule for finding in proof.findings}
    traced = [_with_pair(finding, found.observed) for finding in proof.findings]
    later = [f for f in (*found.findings, *found.observed.findings) if f.rule not in rules]
    for finding in (*traced, *later):
        merged.setdefault((finding.rule, finding.where), finding)
    return list(merged.values())


def _with_pair(finding: Finding, observed: Observed) -> Finding:
    if finding.rule != "DPA003" or finding.release not in observed.excess:
        return finding
    return replace(finding, message=f"{finding.message}; seen on {observed.largest[finding.release].sides()}")


def _check_contradiction(upper: Upper | None, found: Attack, claim: Claim) -> None:
    """The 95 % estimate may err; an exact witness, or a bound at confidence 1 − 10^-6, above a proven bound may not."""
    if upper is None or upper.sensitivity != "proven" or upper.path != "single":
        return
    if (found.exact is not None and found.exact > upper.epsilon) or found.level > upper.epsilon:
        raise Contradiction(upper.epsilon, max(found.lower.epsilon, found.level))


def _missing(claim: Claim, upper: Upper | None, findings: list[Finding], subject: Subject, untraced: str) -> str:
    """What stands between this subject and a certificate; empty when nothing does."""
    if not subject.grey:
        return "a black box that was not refuted; nothing proves it"
    blocking = next((finding for finding in findings if finding.rule in BLOCKING), None)
    if blocking is not None:
        return f"{blocking.rule}: {blocking.message}"
    if upper is None:
        return "no upper bound could be proven"
    if upper.epsilon > claim.epsilon:
        return _above(claim, upper)
    if upper.sensitivity != "proven":
        return f"sensitivity is only {upper.sensitivity}" + (f": {untraced}" if untraced else "")
    if upper.path == "observed":
        return "only the paths that were observed stay within the claim"
    return ""


def _above(claim: Claim, upper: Upper) -> str:
    kind = "proven upper bound" if upper.sensitivity == "proven" else "upper bound"
    return f"the {kind} {float(upper.epsilon):.9g} is above the claim" + _by_rounding(upper.epsilon, claim)


def _by_rounding(epsilon: Fraction, claim: Claim) -> str:
    """What to do about so small an excess."""
    excess = float(epsilon / claim.epsilon) if claim.epsilon else 0.0
    if not 1 < excess < 1.001:
        return ""
    enough = math.ceil(excess * 10**7) / 10**7
    return f"; values are rounded to the grid 2^-20, which adds this much: a scale {enough:.8g} times as large would do"


def _shown(found: Attack) -> Fraction:
    """The figure that a refutation rests on."""
    return found.exact if found.exact is not None else Fraction(max(found.lower.epsilon, found.level))


def assert_private(subject: Subject, *, require: str = "certified", **as_audit: Any) -> Verdict:
    """For tests: raises AssertionError unless the audit certifies the subject. Takes audit's options.

    ``require="not-refuted"``: for black boxes, which nothing can certify.
    """
    if require not in REQUIREMENTS:
        raise InvalidValue("require", require, " or ".join(REQUIREMENTS))
    return assert_verdict(audit(subject, **as_audit), require)


def assert_verdict(verdict: Verdict, require: str = "certified") -> Verdict:
    """The verdict itself, or an AssertionError where it is not what is required."""
    enough = (Outcome.CERTIFIED, Outcome.UNPROVEN) if require == "not-refuted" else (Outcome.CERTIFIED,)
    if verdict.verdict not in enough:
        raise AssertionError(
            f"{verdict.subject} is {verdict.verdict} for {verdict.claim}: {verdict.reason} (seed {verdict.seed})"
        )
    return verdict


__all__ = ["REQUIREMENTS", "DpauditError", "assert_private", "assert_verdict", "audit", "decide"]
