"""What a certificate says, as an in-toto statement: subjects by digest, and a predicate with the verdict and all it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from dpaudit.accountants.least_epsilon import PARALLEL
from dpaudit.accountants.sampling.constant_steps import join_steps
from dpaudit.certificate.facts import context
from dpaudit.certificate.facts import training_facts as training
from dpaudit.certificate.facts.configuration import configuration_of, digest_of, plain
from dpaudit.certificate.facts.evidence import AuditEvidence, LedgerEvidence
from dpaudit.certificate.facts.hazards import HazardFacts, judge_hazards
from dpaudit.certificate.facts.peer_values import peer_values
from dpaudit.certificate.facts.proven_relations import proven_for, relations
from dpaudit.certificate.facts.release_summary import release_groups, theorems
from dpaudit.certificate.facts.reliance import Reliance
from dpaudit.certificate.source.surrounding_code import IMPORTS, LOCK
from dpaudit.claims import Bound, Claim, Outcome, show
from dpaudit.ledger import Release
from dpaudit.ledger.records.source_digests import version
from dpaudit.ledger.spending.filters import kind_of

SCHEMA = "dpaudit.certificate/1"
STATEMENT, PREDICATE = "https://in-toto.io/Statement/v1", "urn:dpaudit:certificate:1"
LEVELS = {
    "proven": "the code is proven and was attacked, on data that the audit made up; no deployment was seen",
    "enforced": "a deployment's ledger: every release is proven, its budget is enforced; the code was not attacked",
    "proven and enforced": "the code is proven and was attacked, and the ledger of its deployment shows its budget enforced",
    training.LEVEL: training.MEANING,
}


def statement(
    ledger: LedgerEvidence | None, audited: AuditEvidence | None, claims: Sequence[Reliance],
    waivers: Sequence[Mapping[str, str]], bound_to: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The statement without its signer. What is passed in was not refused; every field is derived from it, none is chosen but
    ``bound_to``: the identity of the ledger that alone may be used with it. One about a deployment's ledger and its code is for
    that ledger."""
    if ledger is not None and audited is not None:
        bound_to = ledger.identity
    claim = _claim(ledger, audited)
    configuration = _configuration(ledger, audited, claim)
    releases, bound = _releases(ledger, audited)
    model = context.trust_model(releases)
    relation = _relation(ledger, audited)
    horizon = context.horizon(ledger, audited)
    trained = training.is_training(releases)
    proven = all(release.derived is not None for release in releases)
    several = ledger is not None  # a ledger may hold any number of calls, each made after looking at those before it
    path = "enforced" if several or audited is None or audited.verdict.upper is None else audited.verdict.upper.path
    observed = None if audited is None else {n: move.observed for n, move in audited.attack.observed.largest.items()}
    level = "enforced" if audited is None else "proven" if ledger is None else "proven and enforced"
    level = training.LEVEL if trained else level
    hazards = HazardFacts(
        claim, model, relation, horizon["records"], path, None if audited is None else audited.verdict, ledger is not None,
        tuple(sorted({release.mechanism for release in releases})), len(releases), proven, trained,
    )  # fmt: skip
    predicate = {
        "schema": SCHEMA, "issued": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "dpaudit": version(),
        "name": audited.verdict.subject if audited is not None else ledger.name if ledger is not None else "",
        "verdict": str(Outcome.CERTIFIED), "assurance": {"level": level, "meaning": LEVELS[level]},
        "guarantee": _guarantee(claim, ledger, audited), "observer": claim.observer, **context.protects(relation),
        "horizon": horizon,
        "trust_model": {"model": model, "meaning": context.MODELS[model]}, "configuration": configuration,
        "source": "" if audited is None else audited.source, "ledger": _ledger(ledger), "door": _door(ledger, audited, claim),
        "releases": release_groups(releases, bound.lines, observed),
        "theorems": theorems(bound, path=path, parallel=bound.method.endswith(PARALLEL)),
        "observers": {name: {"epsilon": show(e), "delta": show(d)} for name, (e, d) in bound.per_observer.items()},
        "claims": [one.to_dict() for one in claims], "assumptions": context.assumptions(model, ledger, trained=trained),
        "noise": context.noise(releases, ledger is not None, trained=trained), "audit": _audit(audited),
        "peers": peer_values(releases, claim.delta), "waivers": [dict(waiver) for waiver in waivers],
        "hazards": judge_hazards(hazards), **_training(ledger),
        **({} if bound_to is None else {"bound_to": {"ledger": bound_to}}),
    }  # fmt: skip
    digests = _digests(ledger, audited) | {"configuration": digest_of(configuration)}
    subjects = [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()]
    return {"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate}


def _claim(ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> Claim:
    """The subject's claim; of a ledger alone, the budget that it began with: it bounds whoever receives its releases."""
    if audited is not None:
        return audited.verdict.claim
    assert ledger is not None  # else it was refused
    assert ledger.opening is not None
    shuffled = any(release.kind == "shuffled" for release in ledger.releases)
    return Claim(ledger.opening.budget.epsilon, ledger.opening.budget.delta, "shuffled" if shuffled else "server")


def _configuration(ledger: LedgerEvidence | None, audited: AuditEvidence | None, claim: Claim) -> dict[str, Any]:
    if audited is not None:
        return configuration_of(audited.subject, claim)
    return {"ledger": "" if ledger is None else ledger.identity, "claim": {**claim.to_dict(), "observer": claim.observer}}


def _releases(ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> tuple[Sequence[Release], Bound]:
    """The deployment's where there is one, as its account has them, else those of the costliest audited run."""
    if ledger is not None:
        return join_steps(ledger.releases, ledger.unused)[0], ledger.bound
    assert audited is not None  # else it was refused
    assert audited.bound is not None
    return audited.releases, audited.bound


def _relation(ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> str:
    """The subject's; of a ledger alone, as its data was sealed."""
    if audited is not None:
        return audited.subject.neighbours.name
    assert ledger is not None  # else it was refused
    return training.RELATION if training.is_training(ledger.releases) else relations(ledger.releases)[0]


def _guarantee(claim: Claim, ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> dict[str, Any]:
    """(ε, δ) as claimed, and [lower, upper] around the least ε that holds: attacked, rounded down, and proven.

    The audit proves what one call costs. Where a ledger spent more, it was called again, and how often may depend on what was
    released: then nothing below the budget at the door is proven.
    """
    lower, upper, confidence = Fraction(0), claim.epsilon, 1.0
    if audited is not None and audited.verdict.upper is not None:
        shown = Fraction(audited.verdict.lower.epsilon)
        lower, confidence = Fraction(math.floor(max(shown, Fraction(0)) * 10**9), 10**9), audited.verdict.lower.confidence
        once = audited.verdict.upper.epsilon
        spent = None if ledger is None else ledger.bound.per_observer.get(claim.observer, (ledger.bound.epsilon,))[0]
        upper = once if spent is None or spent <= once else claim.epsilon
    interval = {"lower": show(min(lower, upper)), "upper": show(upper), "confidence": confidence}
    return {**claim.to_dict(), "interval": interval}


def _ledger(ledger: LedgerEvidence | None) -> dict[str, Any] | None:
    if ledger is None:
        return None
    spent = {"epsilon": show(ledger.bound.epsilon), "delta": show(ledger.bound.delta)}
    return {
        "id": ledger.identity, "kind": ledger.kind, "size": ledger.head.size, "root": ledger.head.root, "dpaudit": ledger.version,
        "releases": len(ledger.releases), "lost_charges": len(ledger.unused), "spent": spent, "rewritten": ledger.rewritten,
    }  # fmt: skip


def _door(ledger: LedgerEvidence | None, audited: AuditEvidence | None, claim: Claim) -> dict[str, Any] | None:
    """The door that a deployment is bound to; None where no filter keeps such a budget while the subject runs, and for a
    training, which has its recorder instead."""
    if ledger is not None and training.is_training(ledger.releases):
        return None
    name = ledger.opening.filter if ledger is not None and ledger.opening is not None else audited.filter if audited else None
    if name is None:
        return None
    relation = proven_for(audited) if audited is not None else _relation(ledger, None)
    budget = {"epsilon": show(claim.epsilon), "delta": show(claim.delta)}
    return {**budget, "filter": kind_of(name), "proven": True, "relation": relation}


def _training(ledger: LedgerEvidence | None) -> dict[str, Any]:
    trained = ledger is not None and training.is_training(ledger.releases)
    return {"training": training.training_facts(ledger.releases)} if ledger is not None and trained else {}


def _digests(ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> dict[str, str]:
    sources = ledger.sources if ledger is not None else audited.sources if audited is not None else {}
    if audited is not None:  # a ledger says nothing of what its code imported
        sources = {**sources, **{name: audited.sources[name] for name in (IMPORTS, LOCK) if name in audited.sources}}
    renamed = {"source" if name == "subject" else name: digest for name, digest in sources.items()}
    return ({} if ledger is None else {"ledger": ledger.head.root}) | renamed


def _audit(audited: AuditEvidence | None) -> dict[str, Any] | None:
    if audited is None:
        return None
    verdict = audited.verdict
    return {
        "adversary": verdict.lower.method, "observer": verdict.claim.observer, "relation": verdict.neighbours,
        "pairs": audited.pairs, "runs": verdict.lower.samples, "confidence": verdict.lower.confidence,
        "lower": max(verdict.lower.epsilon, 0.0), "detectable": verdict.detectable, "seed": plain(verdict.seed),
        "upper": None if verdict.upper is None else verdict.upper.to_dict(), "reason": verdict.reason,
        "findings": [finding.to_dict() for finding in verdict.findings],
    }  # fmt: skip
