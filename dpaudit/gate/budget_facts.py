"""What judging one budget brought to light, before anybody waives anything. Plain data: it crosses from process to process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dpaudit.claims import Finding
from dpaudit.claims.exit_codes import HOLDS, UNPROVEN, UNUSABLE, VIOLATED

CODES = {"certified": HOLDS, "refuted": VIOLATED, "over budget": VIOLATED, "tampered": VIOLATED, "not checked": UNUSABLE}


@dataclass(frozen=True)
class BudgetFacts:
    """``causes``: places in ``findings`` by which the budget fails; ``complete``: nothing else stands in its way."""

    verdict: str
    reason: str
    observer: str | None = None
    upper: str | None = None  # exact
    lower: Mapping[str, Any] | None = None
    detectable: float | None = None
    findings: Sequence[Mapping[str, str]] = ()
    causes: Sequence[int] = ()
    complete: bool = False
    stated: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None  # where the subject is defined
    line: int = 1
    picture: Mapping[str, Any] | None = None  # what a page draws: losses of the audit, or how a ledger's spending grew
    arithmetic: str | None = None  # of the claim; None where there is no subject
    terms: Mapping[str, Any] | None = None  # what the claim is about: observer, arithmetic, neighbours
    rests_on: Sequence[str] = ()  # of an upper bound: how its sensitivity and its path are known
    evidence: Mapping[str, Any] | None = None  # of a subject: what its figures are made from, for the gate to make them again

    def exit_code(self, require: str) -> int:
        """What follows from the verdict; a verdict that nobody knows proves nothing."""
        accepted = require == "not-refuted" and self.verdict == "unproven"
        return CODES.get(self.verdict, HOLDS if accepted else UNPROVEN)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def not_checked(reason: str) -> BudgetFacts:
    """Exit code 2: nothing is known about this budget, so it does not hold."""
    return BudgetFacts("not checked", reason)


def listed(findings: Sequence[Finding]) -> list[dict[str, str]]:
    return [finding.to_dict() for finding in findings]
