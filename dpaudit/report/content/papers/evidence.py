"""A paper's evidence in words: how it was made, what of it is stale, missing or failed, and what its values say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.papers.checks import VERDICTS, Decided
from dpaudit.papers.severity import SEVERITIES

_NAMED = 8  # ids in a sentence


@dataclass(frozen=True)
class EvidenceSource:
    """Where the evidence comes from. ``stored``: its file, None when it was computed now; ``refresh``: what renews it."""

    quick: bool = False
    stored: str | None = None
    missing: Sequence[str] = ()  # claims asked for that are not in the file
    refresh: str = ""
    papers: Sequence[str] = ()  # their titles


COMPUTED = EvidenceSource()  # a full run, just now


def count_verdicts(decided: Sequence[Decided]) -> str:
    """How many claims came out how."""
    counts = Counter(each.verdict for each in decided)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    grades = Counter(each.severity for each in decided)
    grave = ", ".join(f"{grades[severity]} {severity}" for severity in SEVERITIES if severity != "none" and grades[severity])
    count = f"{len(decided)} claim{'' if len(decided) == 1 else 's'}: {total or 'none'}."
    return f"{count} By severity: {grave}." if grave else count


def names_of_papers(source: EvidenceSource) -> str | None:
    """What the claims are of; None where no paper is named."""
    titles = "; ".join(f"“{title}”" for title in source.papers)
    return f"of {titles}" if titles else None


def origin(source: EvidenceSource) -> str | None:
    """How the evidence was made; None for a full run just now."""
    if source.stored is not None:
        how = "made with --quick (fewer points and instances than a full run)" if source.quick else "made by a full run"
        return f"Stored evidence of {source.stored}, {how}; nothing was computed now."
    if source.quick:
        return "Decided with --quick: fewer points and instances than a full run; leave it out for the full evidence."
    return None


def warnings(decided: Sequence[Decided], source: EvidenceSource) -> list[str]:
    """What must not be overlooked, a sentence each."""
    stale, failed = [one.id for one in decided if one.stale], [one.id for one in decided if one.failed]
    notes = []
    if failed:
        notes.append(f"Not decided, because {'its check' if len(failed) == 1 else 'their checks'} failed: {_list_ids(failed)}.")
    if stale:
        notes.append(f"Stale, because the code that decides has changed since: {_list_ids(stale)}.")
        above = [name for name in dependants(decided, stale) if name not in stale]
        notes += [f"Open until these are decided again, for they rest on them: {_list_ids(above)}."] if above else []
    if source.missing:
        notes.append(f"Not in the stored evidence: {', '.join(source.missing)}.")
    if source.refresh and (stale or source.missing):
        notes.append(f"To renew it: {source.refresh}")
    return notes


def dependants(decided: Sequence[Decided], changed: Sequence[str]) -> list[str]:
    """The claims that rest on these, one way or another, and these."""
    hit = set(changed)
    while more := {one.id for one in decided if hit & set(one.needs)} - hit:
        hit |= more
    return [one.id for one in decided if one.id in hit]


def _list_ids(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_NAMED])
    return shown if len(ids) <= _NAMED else f"{shown} and {len(ids) - _NAMED} more"


def in_words(value: Any) -> str:
    """yes and no, – for nothing, lists with commas; a number is never rounded, for it may be a bound."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {in_words(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(f"({in_words(each)})" if isinstance(each, list | dict) else in_words(each) for each in value) or "none"
    return str(value)


def as_table(value: Any) -> tuple[list[str], list[list[str]]] | None:
    """Header and rows of a list of objects; None for what is no such list."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return None
    header = list(dict.fromkeys(str(key) for row in value for key in row))
    return header, [[in_words(row[key]) if key in row else "" for key in header] for row in value]


def shown_evidence(one: Decided) -> dict[str, Any]:
    """What there is beside the one line and the figures: the evidence, and what holds instead."""
    evidence = {name: value for name, value in one.evidence.items() if name not in ("summary", "figures")}
    return evidence if one.correction is None else {**evidence, "instead": one.correction}
