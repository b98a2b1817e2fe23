"""What an audit says: certified, refuted or unproven, with both bounds and the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpaudit.claims.bounds import Finding, Losses, Lower, Upper
from dpaudit.claims.claim import Claim
from dpaudit.claims.decimals import show
from dpaudit.claims.json_text import as_json

# How a certificate is called by what it rests on: the same words in verdicts, reports, gates and certificates.
BY_PLAN = "certified: its releases are fixed by its plan"
BY_WATCH = "certified: an earlier dpaudit saw no release depend on another, which proves nothing; certify it again"


class Outcome(StrEnum):
    """The three things that a verdict can say."""

    CERTIFIED = "certified"
    REFUTED = "refuted"
    UNPROVEN = "unproven"


@dataclass(frozen=True)
class Verdict:
    """What an audit says: the claim, both bounds, the evidence."""

    verdict: Outcome
    claim: Claim
    lower: Lower
    upper: Upper | None
    findings: Sequence[Finding]
    witness: Mapping[str, Any] | None
    subject: str
    neighbours: str
    seed: int
    detectable: float | None
    reason: str
    seconds: float = 0.0
    losses: Losses | None = None  # for a picture; no part of the JSON
    stopped: str | None = None  # "time": the audit ended before its last stage, as it was asked to

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "dpaudit.audit/1",
            "subject": self.subject,
            "claim": {"epsilon": show(self.claim.epsilon), "delta": show(self.claim.delta)},
            "observer": self.claim.observer,
            **({"arithmetic": self.claim.arithmetic} if self.claim.ideal else {}),
            "neighbours": self.neighbours,
            "seed": self.seed,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "lower": self.lower.to_dict(),
            "detectable": self.detectable,
            "upper": None if self.upper is None else self.upper.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "witness": None if self.witness is None else dict(self.witness),
            "seconds": round(self.seconds, 3),
            **({} if self.stopped is None else {"stopped": self.stopped}),
        }

    def to_json(self) -> str:
        """The verdict in the form of ``schemas/audit.json``."""
        return as_json(self.to_dict())


def behind_door(claim: Claim) -> str:
    """What rests on a budget holds where a door keeps that budget."""
    return f"certified behind its door: budget {claim}, proven releases only"
