"""What a certificate rests on: a ledger as it was read, an audit as it was made. Facts only; nothing is decided here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.accountants.composition import account, account_releases
from dpaudit.auditors.interface import Attack
from dpaudit.auditors.pairs.pair_names import pair_generator
from dpaudit.certificate.source.surrounding_code import surroundings
from dpaudit.claims import Bound, Claim, DpauditError, Outcome, Verdict
from dpaudit.deployment import simulate
from dpaudit.ledger import Budget, Charge, Head, Ledger, Release, open_ledger
from dpaudit.ledger.opening import shown_place
from dpaudit.ledger.records.source_digests import sources
from dpaudit.sealed.runs import one_run
from dpaudit.subjects.subject import Subject, fresh
from dpaudit.subjects.targets import code_of
from dpaudit.verdict.examination import Options, examine
from dpaudit.verdict.proof import Proof


@dataclass(frozen=True)
class Opening:
    """The budget at a ledger's first charge: what was promised before anything was released. Else the first one after it."""

    budget: Budget
    filter: str
    proven: bool  # its doors take proven releases only
    charges_before: int


@dataclass(frozen=True)
class LedgerHistory:
    """The budget at the first charge, or else the first one after it; digests of all code that charged; the last version."""

    opening: Opening | None
    writers: Sequence[dict[str, str]]
    version: str


@dataclass(frozen=True)
class LedgerEvidence:
    """A ledger, read and checked entry by entry."""

    name: str  # of its file
    identity: str
    kind: str
    head: Head
    sources: dict[str, str]  # of the code that charged last
    rewritten: bool  # did other code charge before?
    version: str
    opening: Opening | None
    releases: Sequence[Release]
    unused: Sequence[Charge]
    bound: Bound  # what the releases cost, by a reading of their own


@dataclass(frozen=True)
class AuditEvidence:
    """A subject, its verdict, and what that rests on."""

    subject: Subject
    source: str  # name of its file or package
    sources: dict[str, str]
    verdict: Verdict
    proof: Proof
    attack: Attack
    releases: Sequence[Release]  # of the costliest sealed run
    bound: Bound | None
    pairs: int
    filter: str | None  # that keeps a door's budget equal to the claim while the subject runs; None: no filter does


def read_ledger(path: str | Path) -> LedgerEvidence:
    """Raises TamperedLedger (DPA007), UnreadableLedger, InvalidValue where the releases have no finite cost, and DpauditError for
    a ledger that grows while it is read: a certificate is about one state."""
    with open_ledger(path, readonly=True) as ledger:
        head = ledger.head()
        history = ledger_history(ledger)
        opening, writers = history.opening, history.writers
        bound = account(ledger, delta=None if opening is None else opening.budget.delta)
        releases, unused = list(ledger.releases()), ledger.unused_charges()
        if ledger.head() != head:
            raise DpauditError(
                f"{Path(shown_place(path)).name} is being written to; certify it when it rests, or an export of it"
            )
        return LedgerEvidence(
            name=Path(shown_place(path)).name, identity=ledger.identity, kind=ledger.kind, head=head,
            sources=writers[-1] if writers else ledger.sources, rewritten=len(writers) > 1, version=history.version,
            opening=opening, releases=releases, unused=unused, bound=bound,
        )  # fmt: skip


def ledger_history(ledger: Ledger) -> LedgerHistory:
    first, charges = None, 0
    code: dict[str, Any] = {}
    writers: list[dict[str, str]] = []
    for entry in ledger.entries():
        data = json.loads(entry)
        if data["entry"] in ("ledger", "code"):
            code = data
        elif data["entry"] == "budget":
            if first is None or not charges:  # nothing was seen yet that a tighter one could have been chosen by
                proven = data.get("proven", False) or (first is not None and first.proven)
                first = Opening(Budget(data["epsilon"], data["delta"]), data["filter"], proven, charges)
        elif data["entry"] == "charge" or "charge" not in data:  # else a release that was charged before
            charges += 1
            if not writers or writers[-1] != code.get("sources", {}):
                writers.append(code.get("sources", {}))
    return LedgerHistory(first, writers, str(code.get("version", "")))


def audit_subject(subject: Subject, **options: Any) -> AuditEvidence:
    """Audit it, and keep what the verdict rests on. Takes the options of ``dpaudit.audit``."""
    examination = examine(subject, Options(**options))
    verdict, proof = examination.verdict, examination.proof
    releases, bound = _costliest(proof, verdict.claim)
    code = code_of(subject)
    pairs = list(subject.neighbours.pairs(pair_generator(verdict.seed)))
    certified = verdict.verdict is Outcome.CERTIFIED
    return AuditEvidence(
        subject=subject, source="" if code is None else code.name, sources={**sources(code), **surroundings(code)},
        verdict=verdict, proof=proof,
        attack=examination.attack, releases=releases, bound=bound, pairs=len(pairs),
        filter=_filter(subject, verdict, pairs[0][0]) if certified else None,
    )  # fmt: skip


def _costliest(proof: Proof, claim: Claim) -> tuple[Sequence[Release], Bound | None]:
    if proof.bound is None:
        return (), None
    if proof.planned is not None:
        return proof.planned, proof.bound
    read = [(releases, account_releases(releases, claim.delta)) for releases in proof.runs]
    return max(read, key=lambda one: one[1].per_observer.get(claim.observer, (one[1].epsilon,))[0])


def _filter(subject: Subject, verdict: Verdict, data: Any) -> str | None:
    """Which filter lets the subject through a door whose budget equals the claim, on ``data`` that an audit made up?"""
    for name in ("pure-sums", "zcdp") if verdict.claim.delta else ("pure-sums",):
        try:
            door = simulate(verdict.seed, budget=verdict.claim, filter=name, every_report=True, proven=True)
            with one_run(), door as channel:
                sealed = subject.neighbours.seal(data)
                subject.run(fresh(data) if sealed is None else sealed, channel)
        except DpauditError:  # over budget, or a release that is not proven
            continue
        return name
    return None
