"""The claims of papers that a subject relies on: which, what was decided about them, and whether that is about today's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.papers import ClaimError, decide, digests, find_checks, read_stored
from dpaudit.subject import Subject

NOTE = "claims"  # the note in which a subject names them, separated by commas


@dataclass(frozen=True)
class Reliance:
    """One claim. ``code``: digests of the modules that its evidence is about; ``stale``: those that changed since."""

    id: str
    where: str
    statement: str
    verdict: str
    summary: str
    evidence: str  # "decided now, quick" or "stored"
    code: dict[str, str]
    stale: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "stale": list(self.stale), "fresh": not self.stale}


def relied_upon(subject: Subject, stored: object = None) -> list[Reliance]:
    """Decide each claim now, in its quick form, or read it from ``stored``: the JSON of ``dpaudit claims``.

    A claim that nobody can decide counts as unchecked. Raises InvalidValue for stored evidence of another form.
    """
    names = [name.strip() for name in subject.notes.get(NOTE, "").split(",") if name.strip()]
    if not names:
        return []
    checks = find_checks()
    kept = {} if stored is None else {one.id: one for one in read_stored(stored, checks)}
    found = []
    for name in names:
        try:
            one = kept[name] if name in kept else decide(checks[name], quick=True)
        except (KeyError, ClaimError) as error:
            why = "no installed paper has a check for it" if isinstance(error, KeyError) else str(error)
            found.append(Reliance(name, "", "", "unchecked", why, "none", {}))
            continue
        how = "stored" if name in kept else "decided now, quick"
        found.append(Reliance(name, one.where, one.statement, one.verdict, one.summary, how, dict(one.code), tuple(one.stale)))
    return found


def changed_since(claims: Sequence[Any]) -> list[str]:
    """Of the claims in a certificate, those whose code is not what it was, or cannot be looked at any more."""
    return [claim["id"] for claim in claims if _code_now(claim["id"]) != claim["code"]]


def _code_now(claim: str) -> dict[str, str] | None:
    try:
        return digests(find_checks()[claim])
    except (KeyError, ClaimError):
        return None
