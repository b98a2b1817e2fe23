"""Which of the three outcomes follows from the facts. Nothing is run here: whoever holds the facts decides the same again."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from dpaudit.claims import Claim, Outcome, Upper

BLOCKING = ("DPA002", "DPA005", "DPA006")


class Lack(StrEnum):
    """What stands between a subject that is not refuted and a certificate."""

    PROOF = "a black box, of which nothing is proven"
    RULE = "a finding that nothing is certified beside"
    BOUND = "no upper bound"
    ABOVE = "an upper bound above the claim"
    SENSITIVITY = "a sensitivity that is not proven"
    PATH = "only paths that ran"


def blocking_rules(claim: Claim) -> tuple[str, ...]:
    """The rules that nothing is certified beside. Last bits are a note to a claim about ideal arithmetic."""
    return tuple(rule for rule in BLOCKING if not (claim.ideal and rule == "DPA006"))


def lack_of(claim: Claim, upper: Upper | None, rules: Collection[str], *, grey: bool) -> Lack | None:
    """The first thing that is missing; None when nothing is. ``rules``: of all findings."""
    if not grey:
        return Lack.PROOF
    if any(rule in rules for rule in blocking_rules(claim)):
        return Lack.RULE
    if upper is None:
        return Lack.BOUND
    if upper.epsilon > claim.epsilon:
        return Lack.ABOVE
    if upper.sensitivity != "proven":
        return Lack.SENSITIVITY
    return Lack.PATH if upper.path == "observed" else None


def outcome_of(
    claim: Claim, upper: Upper | None, rules: Collection[str], *, grey: bool, refuted: bool, interrupted: bool
) -> Outcome:
    """Refuted before certified before unproven."""
    if refuted:
        return Outcome.REFUTED
    lacks = interrupted or lack_of(claim, upper, rules, grey=grey) is not None
    return Outcome.UNPROVEN if lacks else Outcome.CERTIFIED


def failing_rules(outcome: Outcome, claim: Claim) -> tuple[str, ...]:
    """The rules whose findings a subject with this outcome fails by."""
    blocking = blocking_rules(claim)
    return {Outcome.REFUTED: ("DPA003", "DPA004", *blocking), Outcome.UNPROVEN: blocking, Outcome.CERTIFIED: ()}[outcome]


def lacks_more(outcome: Outcome, claim: Claim, upper: Upper | None, rules: Collection[str], *, grey: bool) -> bool:
    """Of an unproven subject: is more missing than its findings say? Then waiving them does not help."""
    if outcome is Outcome.REFUTED:
        return False
    if not grey:
        return True
    if upper is None:
        return not any(rule in ("DPA002", "DPA005") for rule in rules)
    return lack_of(claim, upper, (), grey=True) is not None
