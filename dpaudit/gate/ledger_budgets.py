"""A budget about a ledger: what it records is accounted for and held to the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.accountants import account
from dpaudit.accountants.spending_history import spending
from dpaudit.accountants.worst_client import worst_text
from dpaudit.certificate.facts.evidence import Opening, ledger_history
from dpaudit.certificate.facts.ledger_doubts import doubts_of_opening, doubts_of_releases
from dpaudit.certificate.facts.proven_relations import doubts_of_relations, relations
from dpaudit.claims import Bound, Claim, DpauditError, Finding, show
from dpaudit.claims.audit_verdict import behind_door
from dpaudit.claims.decimals import number
from dpaudit.gate.budget_facts import BudgetFacts, listed
from dpaudit.gate.policy import GateBudget
from dpaudit.ledger import TamperedLedger, is_ledger, open_ledger
from dpaudit.ledger.store.registry import scheme_of
from dpaudit.sealed.array import ADD_REMOVE, REPLACE_ONE
from dpaudit.verdict.outcome import BLOCKING


@dataclass(frozen=True)
class LedgerReading:
    """A ledger's bound; what about its records is not proven; what about the paths that it did not take."""

    bound: Bound
    unproven: Sequence[str] = ()
    unenforced: Sequence[str] = ()
    relations: Sequence[str] = ()  # that its data was sealed for


def _place(folder: Path, target: str) -> Path | str:
    """A file under the project's folder, or an address as it is."""
    return folder / target if scheme_of(target) == "file" else target


def judge_ledger(budget: GateBudget, folder: Path, *, picture: bool = False) -> BudgetFacts:
    """Over budget (DPA001), tampered (DPA007), certified or unproven. Raises DpauditError for what cannot be read."""
    claim = Claim(budget.claim.epsilon, budget.claim.delta, budget.observer or "server")
    try:
        read = _read(_place(folder, budget.ledger or ""), claim)
    except TamperedLedger as tampered:
        finding = Finding("DPA007", f"{budget.target}: {tampered.reason}", budget.target)
        return BudgetFacts("tampered", tampered.reason, claim.observer, findings=listed([finding]), causes=[0])
    if claim.observer not in read.bound.per_observer:
        known = ", ".join(read.bound.per_observer)
        raise DpauditError(f"{budget.target} gives no figure for the observer {claim.observer}; it has {known}")
    _check_neighbours(budget, read.relations)
    _check_horizon(budget, read.bound)
    epsilon, delta = read.bound.per_observer[claim.observer]
    drawn = _picture(_place(folder, budget.ledger or ""), read.bound, claim) if picture else None
    facts = BudgetFacts(
        "certified", behind_door(claim), claim.observer, show(epsilon), findings=listed(read.bound.findings), picture=drawn
    )
    if epsilon > claim.epsilon or delta > claim.delta:
        return _over(facts, read, budget, _excess((epsilon, delta), claim))
    causes = [place for place, finding in enumerate(read.bound.findings) if finding.rule in BLOCKING]
    missing = [*read.unproven, *read.unenforced]
    if not missing and not causes:
        return facts
    first = read.bound.findings[causes[0]] if causes else None
    reason = missing[0] if first is None else f"{first.rule}: {first.message}"
    return replace(facts, verdict="unproven", reason=reason, causes=causes, complete=not missing)


def _check_neighbours(budget: GateBudget, sealed: Sequence[str]) -> None:
    """A ledger whose data was sealed for one relation says nothing about the other."""
    needed = ADD_REMOVE if budget.neighbours == "add_remove" else REPLACE_ONE
    if budget.neighbours is not None and sealed and list(sealed) != [needed]:
        raise DpauditError(f"{budget.target} is about {' and '.join(sealed)} neighbours, the budget about {budget.neighbours}")


def _check_horizon(budget: GateBudget, bound: Bound) -> None:
    """A ledger that tells how many clients a release is about is not held to fewer."""
    most = max((line.n for line in bound.lines), default=0)
    if budget.horizon is not None and most > budget.horizon:
        raise DpauditError(f"{budget.target} holds a release about {most} clients, the budget is about {budget.horizon}")


def _picture(path: str | Path, bound: Bound, claim: Claim) -> dict[str, Any]:
    """How the spending grew, and who paid most."""
    worst = worst_text(bound.worst_client) if bound.worst_client else "nobody"
    return {"spending": asdict(spending(path, bound, delta=claim.delta)), "worst": worst}


def _over(facts: BudgetFacts, read: LedgerReading, budget: GateBudget, message: str) -> BudgetFacts:
    """A waiver of DPA001 suffices where nothing but the figure stands in the way."""
    sound = not read.unproven and not any(finding.rule in BLOCKING for finding in read.bound.findings)
    findings = [*listed([Finding("DPA001", message, budget.target)]), *facts.findings]
    return replace(
        facts, verdict="over budget", reason=message, findings=findings, causes=[0],
        complete=sound or budget.require == "not-refuted",
    )  # fmt: skip


def _read(path: str | Path, claim: Claim) -> LedgerReading:
    if not is_ledger(path):
        return LedgerReading(
            account(path, delta=claim.delta), ["a hand-written list of releases: nothing proves that it is complete"]
        )
    with open_ledger(path, readonly=True) as ledger:
        bound = account(ledger, delta=claim.delta)
        releases = list(ledger.releases())
        about = relations(releases)
        unproven = [*doubts_of_releases(ledger.kind, releases), *doubts_of_relations(about)]
        return LedgerReading(bound, unproven, _unenforced(ledger_history(ledger).opening, claim), about)


def _unenforced(opening: Opening | None, claim: Claim) -> list[str]:
    """A ledger shows one path; a budget within the claim that the door kept from the start bounds all of them."""
    doubts = doubts_of_opening(opening)
    if opening is not None and (opening.budget.epsilon > claim.epsilon or opening.budget.delta > claim.delta):
        own = Claim(opening.budget.epsilon, opening.budget.delta)
        doubts.insert(0, f"the door's budget was {own}: another path might have cost more than {claim}")
    return doubts


def _excess(spent: tuple[Fraction, Fraction], claim: Claim) -> str:
    delta = f", δ = {show(spent[1])}" if spent[1] else ""
    return f"ε = {number(spent[0])}{delta} exceeds the budget {claim}"
