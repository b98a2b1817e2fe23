"""A paper's claims for a terminal: one table, or the full story of a few."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dpaudit.papers import VERDICTS, Decided
from dpaudit.report.text import WIDTH, table

MARKS = {"verified": "✓", "refuted": "✗", "conditional": "~", "unchecked": "?"}


def claims_text(decided: Sequence[Decided], *, full: bool) -> str:
    if not decided:
        return "no claims to check"
    if full:
        return "\n\n".join(_story(each) for each in decided)
    rows = [[f"{MARKS[each.verdict]} {each.id}", each.where, _verdict(each), each.summary] for each in decided]
    counts = Counter(each.verdict for each in decided)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    lines = [table(["  claim", "where", "verdict", "evidence"], rows), "", f"{len(decided)} claims: {total}."]
    stale = [each.id for each in decided if each.stale]
    if stale:
        lines.append(f"Stale, because the code they cover has changed since: {', '.join(stale)}.")
    lines.append("The full story of one: dpaudit claims ID")
    return "\n".join(lines)


def _verdict(one: Decided) -> str:
    return one.verdict + (" (stale)" if one.stale else "")


def _story(one: Decided) -> str:
    lines = [f"{MARKS[one.verdict]} {one.id}: {one.verdict.upper()}  ({one.where})", *_wrapped("claim", one.statement)]
    lines += _wrapped("found", one.summary)
    for name, value in one.evidence.items():
        if name not in ("summary", "figures"):
            lines += _evidence(name, value)
    if one.correction is not None:
        lines += _wrapped("instead", one.correction if isinstance(one.correction, str) else str(one.correction))
    lines += _wrapped("covers", ", ".join(one.code))
    if one.stale:
        lines += _wrapped("stale", "changed since the evidence was stored: " + ", ".join(one.stale))
    return "\n".join(lines)


def _evidence(name: str, value: Any) -> list[str]:
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        header = list(dict.fromkeys(key for row in value for key in row))
        rows = [[str(row.get(key, "")) for key in header] for row in value]
        return [*_wrapped(name, ""), *textwrap.indent(table(header, rows), " " * 11).splitlines()]
    if isinstance(value, dict):
        return _wrapped(name, ", ".join(f"{key} {each}" for key, each in value.items()))
    return _wrapped(name, str(value))


def _wrapped(label: str, text: str) -> list[str]:
    first = f"  {label.ljust(8)} "
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * 11) or [first.rstrip()]
