"""What about a ledger is not proven, in words that a refused certificate and the gate share."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.certificate.facts.evidence import Opening
from dpaudit.ledger import Release


def doubts_of_releases(kind: str, releases: Sequence[Release]) -> list[str]:
    """Of what the ledger holds: was it released in truth, and is every sensitivity proven?"""
    doubts = [] if kind == "deployment" else ["simulated ledger: its noise can be foretold from a seed"]
    declared = [release.name for release in releases if release.derived is None]
    return doubts + ([f"sensitivity only declared: release {first_of(declared)}"] if declared else [])


def doubts_of_opening(opening: Opening | None) -> list[str]:
    """Of what it does not hold: a door that kept a budget for proven releases, from the start, bounds every other path."""
    if opening is None:
        return ["no budget at its door: only the path that was taken is known, not what other paths would have cost"]
    doubts = []
    if opening.charges_before:
        doubts.append(f"the budget was set after charge {opening.charges_before}: what is chosen afterwards promises nothing")
    if not opening.proven:
        doubts.append("the door took releases that are only declared: open it with proven=True, from the start")
    return doubts


def first_of(names: Sequence[str]) -> str:
    return repr(names[0]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")
