"""What a reader has to know of the evidence as a whole: how it was made, and what of it is stale, missing or failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.papers.checks import VERDICTS, Decided

_NAMED = 8  # ids in a sentence


@dataclass(frozen=True)
class Source:
    """Where the evidence comes from. ``stored``: its file, None when it was computed now; ``refresh``: what renews it."""

    quick: bool = False
    stored: str | None = None
    missing: Sequence[str] = ()  # claims asked for that are not in the file
    refresh: str = ""


COMPUTED = Source()  # a full run, just now


def counted(decided: Sequence[Decided]) -> str:
    """How many claims came out how."""
    counts = Counter(each.verdict for each in decided)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"{len(decided)} claim{'' if len(decided) == 1 else 's'}: {total or 'none'}."


def made(source: Source) -> str | None:
    """How the evidence was made; None for a full run just now."""
    if source.stored is not None:
        how = "made with --quick (fewer points and instances than a full run)" if source.quick else "made by a full run"
        return f"Stored evidence of {source.stored}, {how}; nothing was computed now."
    if source.quick:
        return "Decided with --quick: fewer points and instances than a full run; leave it out for the full evidence."
    return None


def warnings(decided: Sequence[Decided], source: Source) -> list[str]:
    """What must not be overlooked, a sentence each."""
    stale, failed = [one.id for one in decided if one.stale], [one.id for one in decided if one.failed]
    told = []
    if failed:
        told.append(f"Not decided, because {'its check' if len(failed) == 1 else 'their checks'} failed: {_named(failed)}.")
    if stale:
        told.append(f"Stale, because the code that decides has changed since: {_named(stale)}.")
    if source.missing:
        told.append(f"Not in the stored evidence: {', '.join(source.missing)}.")
    if source.refresh and (stale or source.missing):
        told.append(f"To renew it: {source.refresh}")
    return told


def _named(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_NAMED])
    return shown if len(ids) <= _NAMED else f"{shown} and {len(ids) - _NAMED} more"
