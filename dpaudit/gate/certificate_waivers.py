"""Which of a project's waivers are about what is certified: few, as nothing is certified that has a finding to fail by."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from dpaudit.certificate import AuditEvidence, LedgerEvidence
from dpaudit.claims import show
from dpaudit.gate.budget_facts import BudgetFacts, listed
from dpaudit.gate.policy import Config, GateBudget
from dpaudit.gate.results import SourcePlace, Waiver
from dpaudit.gate.subject_budgets import defined_at
from dpaudit.gate.waivers import note


def waivers_of(
    config: Config, target: str | None, audited: AuditEvidence | None, path: str | None, ledger: LedgerEvidence | None
) -> list[Waiver]:
    """Those in force today that name a finding about this target or this ledger, in a budget of the project."""
    noted: list[Waiver | None] = []
    today = datetime.now(UTC).date()
    for budget, facts in _findings(config, target, audited, path, ledger):
        here = SourcePlace(config.folder.name, 1)
        noted += [one.waiver for one in note(facts, budget, here, config.waivers, today)]
    return list(dict.fromkeys(waiver for waiver in noted if waiver is not None))


def _findings(
    config: Config, target: str | None, audited: AuditEvidence | None, path: str | None, ledger: LedgerEvidence | None
) -> Iterable[tuple[GateBudget, BudgetFacts]]:
    """The facts, once for every budget about it: a fingerprint names its budget."""
    resolved = None if path is None else Path(path).resolve()
    for budget in config.budgets:
        if audited is not None and budget.subject is not None and budget.subject == target:
            verdict = audited.verdict
            upper = None if verdict.upper is None else show(verdict.upper.epsilon)
            file, line = defined_at(audited.subject.function)
            yield budget, BudgetFacts(
                str(verdict.verdict), verdict.reason, verdict.claim.observer, upper, verdict.lower.to_dict(),
                verdict.detectable, listed(verdict.findings), file=file, line=line,
            )  # fmt: skip
        if ledger is not None and budget.ledger is not None and (config.folder / budget.ledger).resolve() == resolved:
            bound = ledger.bound
            yield budget, BudgetFacts("certified", "", None, show(bound.epsilon), findings=listed(bound.findings))
