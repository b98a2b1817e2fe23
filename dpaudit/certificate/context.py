"""Whom a guarantee protects, against whom, and what is taken for granted: read off the releases and the relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.certificate.evidence import AuditEvidence, LedgerEvidence
from dpaudit.ledger import Release

UNITS = {
    "replace_one": ("one record", "one record replaced by any other; their number is public (bounded)"),
    "add_remove": ("one record", "one record added or removed; their number is private (unbounded)"),
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
    "source-is-whole": "the source digest covers the subject's file or package, not what that imports from elsewhere",
    "behind-its-door": "the deployment runs this code behind a live door with this budget, as dp.live_certified opens it",
    "written-by-the-door": "entries of the ledger were written by the code whose digest it names",
    "lost-charges": "charges without a stored release count as spent, and showed nothing",
}


def trust_model(releases: Sequence[Release]) -> str:
    """The weakest of its releases: one that the server computes needs a trusted server."""
    kinds = {release.kind for release in releases}
    return "central" if "release" in kinds or not kinds else "shuffled" if "shuffled" in kinds else "local"


def protects(relation: str | None) -> dict[str, Any]:
    """Unit and neighbours."""
    if relation is None:
        return {"unit": "one record", "neighbours": "not recorded in a ledger: records change as they were sealed"}
    unit, meaning = UNITS.get(relation, ("one record", relation))
    return {"unit": unit, "neighbours": f"{relation}: {meaning}"}


def horizon(ledger: LedgerEvidence | None, audited: AuditEvidence | None) -> dict[str, Any]:
    """How long the guarantee holds: over so many rounds or records, and never more than the budget."""
    rounds, source = None, "not stated"
    if ledger is not None:
        stops = [stop for release in ledger.releases for _, stop in release.cohort.intervals]
        rounds, source = (max(stops), "ledger: last record of any cohort") if stops else (None, "ledger: every record")
    if audited is not None:
        relation = audited.subject.neighbours
        for place, name in ((getattr(relation, "setting", None), "horizon"), (relation, "n")):
            if isinstance(getattr(place, name, None), int):
                rounds, source = getattr(place, name), f"configuration: {name}"
                break
    return {"records": rounds, "source": source}


def noise(releases: Sequence[Release], live: bool) -> dict[str, Any]:
    grids = sorted({release.parameters["grid"] for release in releases if "grid" in release.parameters})
    return {
        "mechanisms": sorted({release.mechanism for release in releases}), "arithmetic": "exact integers on a grid",
        "grids": grids, "generator": GENERATOR if live else f"simulated in the audit; a live door uses {GENERATOR}",
        "live": live,
    }  # fmt: skip


def assumptions(model: str, ledger: LedgerEvidence | None) -> list[dict[str, str]]:
    """The flags that hold for this certificate, each with its meaning."""
    flags = ["trusted-host", "one-record-per-person", "no-side-channels", "system-entropy", "source-is-whole"]
    flags += {"central": ["trusted-server"], "shuffled": ["trusted-shuffler", "honest-clients"]}.get(model, [])
    if ledger is None:
        flags.append("behind-its-door")
    else:
        flags += ["written-by-the-door"] + (["lost-charges"] if ledger.unused else [])
    return [{"flag": flag, "meaning": ASSUMPTIONS[flag]} for flag in flags]
