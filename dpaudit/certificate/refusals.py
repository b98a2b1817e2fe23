"""Why there is no certificate. Every reason is looked for, and each is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpaudit.accountants.readings.reads import Read, read_release
from dpaudit.accountants.shuffle import closed_form as closed
from dpaudit.certificate.errors import Refused
from dpaudit.certificate.facts import proven_relations as relations
from dpaudit.certificate.facts.evidence import AuditEvidence, LedgerEvidence
from dpaudit.certificate.facts.ledger_doubts import doubts_of_opening, doubts_of_releases, first_of
from dpaudit.certificate.facts.reliance import Reliance
from dpaudit.certificate.facts.training_facts import doubts_of_training, is_training
from dpaudit.certificate.source.running_code import not_its_code
from dpaudit.claims import Claim, Finding, Outcome, show
from dpaudit.ledger import Budget, Release
from dpaudit.verdict.outcome import BLOCKING

CLOSED = "closed"  # a release that names it was calibrated by the closed formula, which holds in its domain only


def refuse(ledger: LedgerEvidence | None, audited: AuditEvidence | None, claims: Sequence[Reliance]) -> None:
    """Raise Refused unless everything that a certificate says is proven."""
    reasons: list[str] = []
    if ledger is not None:
        reasons += _of_ledger(ledger)
    if audited is not None:
        reasons += _of_audit(audited)
    if ledger is not None and audited is not None:
        reasons += _of_both(ledger, audited)
    reasons += _of_claims(claims)
    if reasons:
        refuted = audited is not None and audited.verdict.verdict is Outcome.REFUTED
        what = audited.verdict.subject if audited is not None else ledger.name if ledger is not None else ""
        raise Refused(what, list(dict.fromkeys(reasons)), refuted)


def _of_ledger(ledger: LedgerEvidence) -> list[str]:
    reasons = [] if ledger.releases else ["the ledger holds no release"]
    training = is_training(ledger.releases)
    doubts = [*doubts_of_releases(ledger.kind, ledger.releases), *doubts_of_opening(ledger.opening)]
    reasons += doubts_of_training(ledger) if training else doubts
    bound, opening = ledger.bound, ledger.opening
    if opening is not None and (bound.epsilon > opening.budget.epsilon or bound.delta > opening.budget.delta):
        reasons.append(f"over budget: its releases cost ε={show(bound.epsilon)} at δ={show(bound.delta)}")
    reasons += relations.of_ledger(ledger)
    return reasons + _of_findings(ledger.bound.findings) + _out_of_domain(ledger)


def _out_of_domain(ledger: LedgerEvidence) -> list[str]:
    delta = ledger.bound.delta if ledger.opening is None else ledger.opening.budget.delta
    wrong = [release.name for release in ledger.releases if release.theorem == CLOSED and not _in_domain(release, delta)]
    return [f"out-of-domain amplification: the theorem named by release {first_of(wrong)} does not hold there"] if wrong else []


def _in_domain(release: Release, delta: object) -> bool:
    read = read_release(release)
    if not isinstance(read, Read):
        return False  # a stated guarantee says nothing of how it was calibrated
    pure = read.noise.epsilon(read.steps)
    return bool(delta) and pure is not None and closed.in_domain(pure, read.crowd, delta)  # type: ignore[arg-type]


def _of_audit(audited: AuditEvidence) -> list[str]:
    verdict = audited.verdict
    reasons = [] if verdict.verdict is Outcome.CERTIFIED else [f"{verdict.verdict} claim {verdict.claim}: {verdict.reason}"]
    other = not_its_code(audited.subject)
    reasons += [] if other is None else [other]
    reason = _obstacle(audited)  # which stands in the verdict's reason already
    return reasons + _of_findings(f for f in verdict.findings if f is not reason)


def _obstacle(audited: AuditEvidence) -> Finding | None:
    """The finding that keeps a claim unproven: the first of a rule that nothing is certified beside."""
    unproven = audited.verdict.verdict is Outcome.UNPROVEN and audited.subject.grey
    return next((finding for finding in audited.verdict.findings if unproven and finding.rule in BLOCKING), None)


def _of_findings(findings: Iterable[Finding]) -> list[str]:
    """DPA003: a live door refuses what declares too little, so there is no deployment to certify. DPA005: nothing is proven."""
    words = {"DPA003": "DPA003, sensitivity declared too small", "DPA005": "DPA005, out-of-domain amplification"}
    return [f"{words[finding.rule]}: {finding.message}" for finding in findings if finding.rule in words]


def _of_both(ledger: LedgerEvidence, audited: AuditEvidence) -> list[str]:
    reasons, claim = [], audited.verdict.claim
    if ledger.opening is not None and ledger.opening.budget != Budget.of(claim):
        reasons.append(f"the ledger's budget is {Claim(*_pair(ledger.opening.budget))}, the subject's claim is {claim}")
    if "subject" not in ledger.sources:
        reasons.append("the ledger does not say which code wrote it: open it with code=")
    elif ledger.sources != audited.sources:
        which = next(name for name in audited.sources if ledger.sources.get(name) != audited.sources[name])
        reasons.append(f"other code wrote the ledger: the {which} source differs from the audited one")
    if ledger.rewritten:
        reasons.append("more than one version of the code wrote the ledger")
    return reasons + relations.of_both(ledger, audited) + relations.understated(ledger, audited)


def _pair(budget: Budget) -> tuple[str, str]:
    return show(budget.epsilon), show(budget.delta)


def _of_claims(claims: Sequence[Reliance]) -> list[str]:
    reasons = [f"unproven claim: {c.id} is {c.verdict} ({c.summary})" for c in claims if c.verdict != "verified"]
    stale = [f"unproven claim: the evidence for {c.id} is stale, {', '.join(c.stale)} changed" for c in claims if c.stale]
    return reasons + stale
