"""What the gate found: one entry per budget, with findings that a waiver can name. Read by every report's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from dpaudit.claims import Claim, show
from dpaudit.claims.exit_codes import HOLDS, NOTHING, UNPROVEN, UNUSABLE, VIOLATED, worst

ERROR = Fraction(1, 10**6)  # probability that statistics refute any honest subject of one check


def one_line(text: str) -> str:
    """Without line breaks, control characters and marks that reverse the order of reading: what is named stays in its place."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _clean(record: Any, *names: str) -> None:
    """Every format reads these records, so their texts are made safe to print once, here."""
    for name in names:
        value = getattr(record, name)
        object.__setattr__(record, name, None if value is None else one_line(value))


@dataclass(frozen=True)
class SourcePlace:
    """A line of a file, relative to the repository's root, with forward slashes."""

    file: str
    line: int


@dataclass(frozen=True)
class Waiver:
    """A decision to live with one finding until a day, by somebody, for a reason."""

    rule: str
    fingerprint: str
    reason: str
    owner: str
    expires: date  # the last day on which it holds

    def __post_init__(self) -> None:
        _clean(self, "reason", "owner")

    def to_dict(self) -> dict[str, str]:
        about = {"rule": self.rule, "fingerprint": self.fingerprint, "reason": self.reason, "owner": self.owner}
        return {**about, "expires": self.expires.isoformat()}


@dataclass(frozen=True)
class Noted:
    """A finding of the gate. ``fails``: it is what the budget fails by; ``waiver``: somebody decided to live with it."""

    rule: str
    message: str
    where: str
    fingerprint: str
    place: SourcePlace
    fails: bool = False
    waiver: Waiver | None = None

    def __post_init__(self) -> None:
        _clean(self, "message", "where")

    def to_dict(self) -> dict[str, Any]:
        about = {"rule": self.rule, "message": self.message, "where": self.where, "fingerprint": self.fingerprint}
        waived = None if self.waiver is None else self.waiver.to_dict()
        return {**about, "file": self.place.file, "line": self.place.line, "fails": self.fails, "waived": waived}


@dataclass(frozen=True)
class Judged:
    """One budget: what was asked, what was found, and the exit code that it alone would give."""

    name: str
    target: str
    claim: Claim
    require: str
    verdict: str  # certified, unproven, refuted, over budget, tampered, not checked
    code: int
    reason: str
    place: SourcePlace
    upper: Fraction | None = None
    lower: Mapping[str, Any] | None = None
    detectable: float | None = None
    findings: tuple[Noted, ...] = ()
    change: str | None = None
    stated: Mapping[str, str] | None = None  # unit, relation and horizon, for the reader
    seconds: float = 0.0
    timeout: int = 0
    picture: Mapping[str, Any] | None = None  # for a page alone

    def __post_init__(self) -> None:
        _clean(self, "target", "reason", "change")

    @property
    def waived(self) -> bool:
        """Would it fail, had nobody decided to live with that?"""
        return self.code == HOLDS and any(finding.fails and finding.waiver for finding in self.findings)

    @property
    def state(self) -> str:
        """What the gate says of it, in one word or two."""
        if self.waived:
            return "waived"
        return {HOLDS: "holds", VIOLATED: "fails", UNPROVEN: "fails", UNUSABLE: "not checked"}[self.code]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name, "target": self.target, "verdict": self.verdict, "state": self.state, "code": self.code,
            "reason": self.reason, "require": self.require, "epsilon": None if self.upper is None else show(self.upper),
            "budget": self.claim.to_dict(), "observer": self.claim.observer, **(self.stated or {}),
            "lower": None if self.lower is None else dict(self.lower), "detectable": self.detectable, "change": self.change,
            "findings": [finding.to_dict() for finding in self.findings], "file": self.place.file, "line": self.place.line,
            "seconds": round(self.seconds, 3), "timeout": self.timeout,
        }  # fmt: skip


@dataclass(frozen=True)
class Checked:
    """The whole gate: every budget, and what is wrong with the waivers (DPA008) or the policy as a whole (DPA009)."""

    config: str  # the file that was read, for a person; empty without one
    budgets: Sequence[Judged] = ()
    findings: Sequence[Noted] = ()
    removed: Sequence[str] = ()  # budgets of the baseline that are no longer configured
    seed: int = 0
    seconds: float = 0.0
    against: str | None = None  # the commit whose policy it was compared with

    @property
    def exit(self) -> int:
        codes = [budget.code for budget in self.budgets] or [NOTHING]
        return worst([*codes, *([VIOLATED] if any(finding.waiver is None for finding in self.findings) else [])])

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "dpaudit.check/1", "budgets": [budget.to_dict() for budget in self.budgets],
            "findings": [finding.to_dict() for finding in self.findings], "removed": list(self.removed), "config": self.config,
            "seed": self.seed, "error": show(ERROR), "against": self.against, "seconds": round(self.seconds, 3),
            "exit": self.exit,
        }  # fmt: skip
