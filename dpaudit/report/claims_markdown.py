"""A paper's claims for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.papers.checks import Decided
from dpaudit.report.claims_notes import COMPUTED, Source, counted, made, warnings
from dpaudit.report.markdown import plain, table


def claims_markdown(decided: Sequence[Decided], source: Source = COMPUTED) -> str:
    rows = [
        [f"`{each.id}`", plain(each.where), each.verdict + (" (stale)" if each.stale else ""), plain(each.summary)]
        for each in decided
    ]
    notes = [counted(decided), *([made(source)] if made(source) else []), *warnings(decided, source)]
    told = [line for note in notes for line in (plain(str(note)), "")]
    return "\n".join(["## The claims, decided", "", *told, table(["claim", "where", "verdict", "evidence"], rows)])
