"""Whom a guarantee protects, against whom, and what is taken for granted: read off the releases and the relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.certificate.facts import training_facts as training
from dpaudit.certificate.facts.evidence import AuditEvidence, LedgerEvidence
from dpaudit.ledger import Release

_REPLACED = ("one record", "one record replaced by any other; their number is public (bounded)")
_ADDED = ("one record", "one record added or removed; their number is private (unbounded)")
UNITS = {
    "replace_one": _REPLACED,
    "add_remove": _ADDED,
    "replace-one": _REPLACED,  # as a ledger records it
    "add-remove": _ADDED,
    training.RELATION: ("one record", "one record added or removed, or its gradient replaced by zero (unbounded)"),
    "reward-sequence": ("one reward of one round", "the reward of one round replaced by any other in range"),
}
MODELS = {
    "central": "the server that runs the door sees the data",
    "shuffled": "each client adds noise before reporting; a shuffler hides who reported what",
    "local": "each client adds noise before reporting; nobody else is trusted",
}
GENERATOR = "AES-256 in counter mode, keyed by the operating system"
ASSUMPTIONS = {
    "trusted-host": "the host runs this code unchanged and keeps its memory to itself",
    "trusted-server": "the server sees raw data and shows nothing but what leaves the door",
    "trusted-shuffler": "the shuffler keeps order and senders secret and does not collude with the server",
    "honest-clients": "the other clients of a batch add the noise they are meant to add",
    "one-record-per-person": "a person with several records is protected for each of them, not for all together",
    "no-side-channels": "time, memory, errors and traffic show nothing; only outputs were looked at",
    "system-entropy": "the operating system's random numbers cannot be foretold",
    "source-is-whole": "its digest covers the subject's package (folders with __init__.py) or file, not what these import",
    "behind-its-door": "the deployment runs this code behind a live door with this budget, as dp.live_certified opens it",
    "written-by-the-door": "entries of the ledger were written by the code whose digest it names",
    "one-ledger": "a certificate opens any number of ledgers: what several of them spend on the same people adds up",
    "one-id-per-record": "a record is sealed under the same id each time: under another one it has a budget of its own",
    "lost-charges": "charges without a stored release count as spent, and showed nothing",
    **training.ASSUMPTIONS,
}


def trust_model(releases: Sequence[Release]) -> str:
    """The weakest of its releases: one that the server computes needs a trusted server."""
    kinds = {release.kind for release in releases}
    return "central" if "release" in kinds or not kinds else "shuffled" if "shuffled" in kinds else "local"


def protects(relation: str) -> dict[str, Any]:
    """Unit and neighbours."""
    unit, meaning = UNITS.get(relation, ("one record", relation))
    return {"unit": unit, "neighbours": f"{relation}: {meaning}"}


def horizon(ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> dict[str, Any]:
    """Over how many rounds or records the guarantee holds: as many as were stated, or more if the ledger shows more."""
    horizons: list[tuple[int, str]] = []
    if audited is not None:
        relation = audited.subject.neighbours
        places = ((getattr(relation, "setting", None), "horizon"), (relation, "n"))
        stated = [(getattr(place, name), name) for place, name in places if isinstance(getattr(place, name, None), int)]
        horizons += [(records, f"configuration: {name}") for records, name in stated[:1]]
    if ledger is not None:
        cohorts = [release.cohort for release in ledger.releases]
        numbered = max((stop for cohort in cohorts for _, stop in cohort.intervals), default=0)
        named = len(frozenset().union(*(cohort.ids for cohort in cohorts)))
        horizons += [(numbered + named, "ledger: all records of its cohorts")] if numbered + named else []
    if not horizons:
        return {"records": None, "source": "not stated" if ledger is None else "ledger: every record"}
    records, source = max(horizons, key=lambda one: one[0])
    return {"records": records, "source": source}


def noise(releases: Sequence[Release], live: bool, *, trained: bool = False) -> dict[str, Any]:
    drawn = {
        "mechanisms": sorted({release.mechanism for release in releases}), "arithmetic": "exact integers on a grid",
        "grids": sorted({release.parameters["grid"] for release in releases if "grid" in release.parameters}),
        "generator": GENERATOR if live else f"simulated in the audit; a live door uses {GENERATOR}", "live": live,
    }  # fmt: skip
    own = {"arithmetic": training.ARITHMETIC, "grids": [], "generator": training.GENERATOR}
    return {**drawn, **own} if trained else drawn


def assumptions(model: str, ledger: LedgerEvidence | None, *, trained: bool = False) -> list[dict[str, str]]:
    """The flags that hold for this certificate, each with its meaning."""
    lost = ["lost-charges"] if ledger is not None and ledger.unused else []
    if trained:
        flags = ["trusted-host", "trusted-server", "one-record-per-person", "one-ledger", "no-side-channels"]
        return [{"flag": flag, "meaning": ASSUMPTIONS[flag]} for flag in [*flags, *training.ASSUMPTIONS, *lost]]
    flags = ["trusted-host", "one-record-per-person", "one-id-per-record", "one-ledger", "no-side-channels", "system-entropy"]
    flags.append("source-is-whole")
    flags += {"central": ["trusted-server"], "shuffled": ["trusted-shuffler", "honest-clients"]}.get(model, [])
    if ledger is None:
        flags.append("behind-its-door")
    else:
        flags += ["written-by-the-door", *lost]
    return [{"flag": flag, "meaning": ASSUMPTIONS[flag]} for flag in flags]
