"""The claims of papers that a subject relies on: which, what was decided about them, and whether that is about today's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.papers.checks import ClaimError, Decided
from dpaudit.papers.decisions import decide, digests
from dpaudit.papers.installed_papers import find_checks
from dpaudit.papers.stored_evidence import read_stored
from dpaudit.subjects.subject import Subject

NOTE = "claims"  # the note in which a subject names them, separated by commas


@dataclass(frozen=True)
class Reliance:
    """One claim. ``code``: digests of the modules that its evidence is about; ``stale``: those that changed since."""

    id: str
    where: str
    statement: str
    verdict: str
    summary: str
    evidence: str  # "decided now, quick", or that and that stored evidence agrees
    code: dict[str, str]
    stale: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "stale": list(self.stale), "fresh": not self.stale}


def relied_upon(subject: Subject, stored: object = None) -> list[Reliance]:
    """Decide each claim now, in its quick form. ``stored``, the JSON of ``dpaudit claims``, must agree.

    Anybody can write such a file, so it is never believed alone: another verdict than today's is contradicted, which is no
    proof. A claim that nobody can decide counts as unchecked. Raises InvalidValue for stored evidence of another form.
    """
    names = [name.strip() for name in subject.notes.get(NOTE, "").split(",") if name.strip()]
    if not names:
        return []
    checks = find_checks()
    evidence = {} if stored is None else {one.id: one for one in read_stored(stored, checks)}
    reliances = []
    for name in names:
        try:
            now = decide(checks[name], quick=True)
        except (KeyError, ClaimError) as error:
            why = "no installed paper has a check for it" if isinstance(error, KeyError) else str(error)
            reliances.append(Reliance(name, "", "", "unchecked", why, "none", {}))
            continue
        reliances.append(_reliance(now, evidence.get(name)))
    return reliances


def _reliance(now: Decided, stored: Decided | None) -> Reliance:
    """What was decided now. Of stored evidence only counts whether it agrees, and whether it is about today's code."""
    made = Reliance(now.id, now.where, now.statement, now.verdict, now.summary, "decided now, quick", dict(now.code))
    if stored is None:
        return made
    if stored.verdict != now.verdict:
        summary = f"stored as {stored.verdict}, decided now as {now.verdict}: {now.summary}"
        return replace(made, verdict="contradicted", summary=summary, evidence="none")
    return replace(made, evidence="decided now, quick; stored evidence agrees", code=dict(stored.code), stale=tuple(stored.stale))


def changed_since(claims: Sequence[Any]) -> list[str]:
    """Of the claims in a certificate, those whose code is not what it was, or cannot be looked at any more."""
    return [claim["id"] for claim in claims if _code_now(claim["id"]) != claim["code"]]


def _code_now(claim: str) -> dict[str, str] | None:
    try:
        return digests(find_checks()[claim])
    except (KeyError, ClaimError):
        return None
