"""A decision, with its one line first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.papers.checks import Decision

Row = dict[str, Any]


def decided(verdict: str, summary: str, evidence: Mapping[str, Any], correction: Any = None) -> Decision:
    """The evidence with a summary for a person in front."""
    return Decision(verdict, {"summary": summary, **evidence}, correction)
