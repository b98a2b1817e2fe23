"""A paper's claims for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.papers import Decided
from dpaudit.report.markdown import table


def claims_markdown(decided: Sequence[Decided]) -> str:
    rows = [[f"`{each.id}`", each.where, each.verdict + (" (stale)" if each.stale else ""), each.summary] for each in decided]
    return "\n".join(["## The claims, decided", "", table(["claim", "where", "verdict", "evidence"], rows)])
