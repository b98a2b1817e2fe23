"""Entries of one plan as one: the steps of a training, whose recorder holds noise, clipping and rate constant.

A ledger takes such steps in blocks. Together they are the same as one entry that counts them all, lost blocks included, and cost
what the composition of so many equal releases does; the number must have been bounded in advance, as a budget does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dpaudit.ledger import Charge, Release

CONSTANT = "constant-steps"  # the theorem that releases of such a plan name
FAILED = " FAILED"  # behind the name of a check
IN_ADVANCE = (
    "the steps' noise, clipping and rate were held constant; their number counts as fixed in advance: if what was released "
    "decided it, the budget is what holds"
)


def is_constant(release: Release) -> bool:
    """Is it a block of such steps?"""
    return release.theorem == CONSTANT


def is_training_step(release: Release) -> bool:
    """Is it a block of steps that a training's recorder wrote?"""
    return {"adjacency", "clip", "clipping", "sample", "accumulated"} <= release.extra.keys()


def checks_of(releases: Sequence[Release]) -> tuple[list[str], list[str]]:
    """The checks that were passed and failed while the training ran, by name, as its last block tells."""
    told = next((release.extra["checked"] for release in reversed(releases) if "checked" in release.extra), "")
    names = [name for name in told.split(", ") if name]
    failed = [name.removesuffix(FAILED) for name in names if name.endswith(FAILED)]
    return [name for name in names if not name.endswith(FAILED)], failed


def join_steps(releases: Sequence[Release], unused: Sequence[Charge] = ()) -> tuple[list[Release], list[Charge]]:
    """Equal blocks as one, at the place of the first, with the lost charges that belong to them; all else as it is."""
    places: dict[tuple[object, ...], int] = {}
    joined: list[Release] = []
    for release in releases:
        key = _kind(release.charge())
        if is_constant(release) and key in places:
            before = joined[places[key]]
            joined[places[key]] = _with_count(before, release.count or 1)
            continue
        if is_constant(release):
            places[key] = len(joined)
        joined.append(release)
    left = []
    for charge in unused:
        place = places.get(_kind(charge))
        if place is None:
            left.append(charge)
        else:
            joined[place] = _with_count(joined[place], int(charge.facts.get("count", "1")))
    return joined, left


def statement(releases: Sequence[Release]) -> str:
    """What such steps are, in one sentence: neighbours, samples, clipping, and what was checked while they were made."""
    notes = next(release.extra for release in releases if is_constant(release))
    checked = next((release.extra["checked"] for release in reversed(releases) if "checked" in release.extra), "nothing")
    several = "" if notes.get("accumulated", "1") == "1" else f", {notes['accumulated']} of them added up in each step"
    said = f"neighbours {notes.get('adjacency', 'as the sensitivity is for')}; Poisson samples of rate {_short(notes)}{several}; "
    said += f"gradients clipped to {notes.get('clip', '?')} ({notes.get('clipping', '?')}); checked while it ran: {checked}"
    return "training: " + said


def _short(notes: Mapping[str, str]) -> str:
    try:
        return f"{float(Fraction(notes['sample'])):.6g}"
    except (LookupError, ValueError, ZeroDivisionError):
        return "unknown"


def _with_count(release: Release, more: int) -> Release:
    return replace(release, count=(release.count or 1) + more)


def _kind(charge: Charge) -> tuple[object, ...]:
    facts = tuple(sorted((name, value) for name, value in charge.facts.items() if name != "count"))
    return charge.name, charge.cohort, facts
