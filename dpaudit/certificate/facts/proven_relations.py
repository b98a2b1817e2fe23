"""For which neighbours the releases are proven: a door records it beside each of them."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.certificate.facts.evidence import AuditEvidence, LedgerEvidence
from dpaudit.claims import exact
from dpaudit.ledger import Release
from dpaudit.sealed.array import ADD_REMOVE, REPLACE_ONE

NOT_RECORDED = "not recorded"


def relations(releases: Sequence[Release]) -> list[str]:
    """Of the releases that are proven, each kind once. Neither covers the other: a record that is not there is not one that was
    replaced, and one that is replaced is removed and another added, at twice the cost."""
    return sorted({release.relation or NOT_RECORDED for release in releases if release.derived is not None})


def proven_for(audited: AuditEvidence) -> str:
    """How the data of a deployment must be sealed: as the audit's were; for a subject without releases, by its relation."""
    recorded = relations(audited.releases)
    return recorded[0] if recorded else ADD_REMOVE if audited.subject.neighbours.name == "add_remove" else REPLACE_ONE


def of_ledger(ledger: LedgerEvidence) -> list[str]:
    """What keeps a ledger from being about one relation, in words."""
    recorded = relations(ledger.releases)
    if NOT_RECORDED in recorded:
        return ["it does not record for which neighbours its data was sealed: an earlier dpaudit wrote it"]
    return doubts_of_relations(recorded)


def doubts_of_relations(recorded: Sequence[str]) -> list[str]:
    return [f"its data is sealed for different neighbours: {' and '.join(recorded)}"] if len(recorded) > 1 else []


def of_both(ledger: LedgerEvidence, audited: AuditEvidence) -> list[str]:
    """What keeps a ledger from being about the subject's relation."""
    recorded, needed = relations(ledger.releases), proven_for(audited)
    if len(recorded) != 1 or recorded == [needed]:  # of_ledger told the rest
        return []
    name = audited.subject.neighbours.name
    return [f"the ledger's data is sealed for {recorded[0]} neighbours, the subject's claim is about {name} ones"]


def understated(ledger: LedgerEvidence, audited: AuditEvidence) -> list[str]:
    """Releases of the ledger whose proven sensitivity is below what the audit saw: data sealed otherwise than it was audited.

    Rounding moves a coordinate by less than a step of the grid. Compared where the same sensitivity is declared.
    """
    moves, wrong = audited.attack.observed.largest, []
    for release in ledger.releases:
        move = moves.get(release.name)
        if move is None or release.derived is None or move.declared != release.sensitivity:
            continue
        rounding = (1 if release.coordinates is None else release.coordinates) * exact(release.parameters.get("grid", "1"))
        if move.observed > release.derived + rounding:
            wrong.append(release.name)
    if not wrong:
        return []
    return [f"release {wrong[0]!r} of the ledger is proven for less sensitivity than the audit saw: its data is sealed otherwise"]
