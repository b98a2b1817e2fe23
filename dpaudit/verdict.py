"""Joins the two bounds: claim, upper, lower and evidence make a verdict, decided in the order of the design."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any

from dpaudit.accountants.proof import Proof, prove
from dpaudit.auditors.attack import Attack, attack
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
from dpaudit.subject import Subject

BLOCKING = ("DPA002", "DPA005", "DPA006")


def audit(
    subject: Subject,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    observer: str | None = None,
    confidence: float = 0.95,
    samples: int | None = None,
    seed: int | None = None,
) -> Verdict:
    """Prove, attack, decide. ``samples`` is runs per side; without ``seed`` one is drawn and reported.

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
    runs = whole(samples, "samples", 100) if samples is not None else (100_000 if subject.vectorised else 10_000)
    seed = secrets.randbits(31) if seed is None else whole(seed, "seed", 0)
    proof = prove(subject, claim, seed) if subject.grey else Proof(None, None, [])
    found = attack(subject, claim, confidence=float(level), samples=runs, seed=seed)
    verdict = decide(subject, claim, proof, found, seed)
    return replace(verdict, seconds=time.perf_counter() - started)


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
                    f"the lower bound {found.lower.epsilon:.6g} beats the claim {claim}",
                    subject.name,
                )
            )
        outcome, reason = Outcome.REFUTED, found.reason
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
    )


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
    epsilon = max(upper.epsilon, proof.raised(found.observed.excess, claim)) if found.observed.excess else upper.epsilon
    return replace(upper, epsilon=epsilon, sensitivity="tested")


def _findings(proof: Proof, found: Attack) -> list[Finding]:
    merged: dict[tuple[str, str], Finding] = {}
    rules = {finding.rule for finding in proof.findings}
    later = [f for f in (*found.findings, *found.observed.findings) if f.rule not in rules]
    for finding in (*proof.findings, *later):
        merged.setdefault((finding.rule, finding.where), finding)
    return list(merged.values())


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
        return f"sensitivity is only {upper.sensitivity}" + (f"; {untraced}" if untraced else "")
    if upper.path == "observed":
        return "only the paths that were observed stay within the claim"
    return ""


def _above(claim: Claim, upper: Upper) -> str:
    excess = float(upper.epsilon / claim.epsilon) if claim.epsilon else 0.0
    text = f"the proven upper bound {float(upper.epsilon):.9g} is above the claim"
    if 1 < excess < 1.001:
        text += f"; values are rounded to the grid 2^-20, which adds this much: a scale {excess:.7g} times as large would do"
    return text


def assert_private(subject: Subject, **as_audit: Any) -> Verdict:
    """For tests: raises AssertionError unless the audit certifies the subject. Takes audit's options."""
    verdict = audit(subject, **as_audit)
    if verdict.verdict is not Outcome.CERTIFIED:
        raise AssertionError(
            f"{verdict.subject} is {verdict.verdict} for {verdict.claim}: {verdict.reason} (seed {verdict.seed})"
        )
    return verdict


__all__ = ["DpauditError", "assert_private", "audit", "decide"]
