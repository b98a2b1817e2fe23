"""What peers' own tests expect, as data with its source, and how much of it dpaudit expresses, agrees with, is tighter than.

``python -m benchmarks.peers values`` prints it and writes it into benchmarks/README.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from benchmarks.peers.environments import HERE
from benchmarks.peers.value_kinds import QUANTITIES, Ends, delta, with_noise

FILE = HERE / "expected_values.json"
OUTCOMES = ("agree", "tighter", "contradicted", "expressed", "not expressed")
_ROUNDING = 1e-12  # of a float that a test writes down


@dataclass(frozen=True)
class Value:
    """One value of one test, as the data has it."""

    peer: str
    file: str
    test: str
    quantity: str
    claim: str  # "exact", "upper", "lower" or "approximate"
    tolerance: float | str
    what: dict[str, Any]
    at: Any
    expected: Any

    @property
    def missing(self) -> str | None:
        """The kind of thing that dpaudit has no words for."""
        kind: str | None = self.what.get("unexpressed")
        return kind

    def margin(self, size: float) -> float:
        """By how much the test lets the value differ."""
        text = str(self.tolerance)
        stated = float(text.removeprefix("relative ")) * abs(size) if text.startswith("relative") else float(text)
        return stated + _ROUNDING * abs(size)


@dataclass
class Share:
    """What became of a peer's values."""

    peer: str
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    contradicted: list[str] = field(default_factory=list)

    @property
    def values(self) -> int:
        return self.outcomes.total()

    @property
    def expressed(self) -> int:
        return self.values - self.outcomes["not expressed"]

    def to_dict(self) -> dict[str, object]:
        return {
            "peer": self.peer,
            "values": self.values,
            "expressed": self.expressed,
            **{name: self.outcomes[name] for name in ("agree", "tighter", "contradicted")},
            "not expressed": dict(self.reasons),
        }


def read_values() -> Iterator[Value]:
    """All of them."""
    for test in json.loads(FILE.read_text(encoding="utf-8"))["tests"]:
        head = {name: each for name, each in test.items() if name != "values"}
        for what, at, expected in test["values"]:
            yield Value(**head, what=what, at=at, expected=expected)


def outcome(value: Value) -> str:
    """One of ``OUTCOMES``.

    An exact value agrees where both are as close as the test asks. A peer's upper bound is contradicted where it lies below what
    is proven from below, or where ours lies above it; a lower bound where it lies above ours. An approximation without a
    direction is contradicted by nothing.
    """
    if value.missing is not None:
        return "not expressed"
    if value.quantity == "curve":
        return _worst([_compare(value, _ends_at(value, at), theirs) for at, theirs in _curve(value)])
    if value.quantity in ("noise", "calibrated"):
        return _noise(value)
    return _compare(value, QUANTITIES[value.quantity](value.what, value.at), float(value.expected))


def _compare(value: Value, found: Ends, theirs: float) -> str:
    if math.isinf(theirs) or math.isinf(found.high):
        return "agree" if theirs == found.high else "contradicted"
    margin = value.margin(theirs)
    if value.claim == "lower":  # an optimistic estimate
        return "contradicted" if theirs > found.high + margin else "tighter" if theirs < found.low - margin else "agree"
    if abs(found.high - theirs) <= margin:
        return "agree"
    if value.claim == "approximate":
        return "expressed"
    return "tighter" if found.high < theirs and value.claim == "upper" else "contradicted"


def _curve(value: Value) -> Iterator[tuple[Fraction, float]]:
    """(ε, δ) of a loss distribution at each of its losses."""
    unit = Fraction(value.at)
    losses = {int(place) * unit: float(mass) for place, mass in value.expected["losses"].items()}
    for at in losses:
        above = sum(mass * -math.expm1(float(at - loss)) for loss, mass in losses.items() if loss > at)
        yield at, float(value.expected["infinite"]) + above


def _ends_at(value: Value, at: Fraction) -> Ends:
    return delta(value.what, str(at))


def _worst(found: list[str]) -> str:
    return next(each for each in ("contradicted", "tighter", "agree") if each in found)


def _noise(value: Value) -> str:
    """Does it suffice at the far end of the tolerance, and not at the near end?"""
    size, (epsilon, failure) = Fraction(value.expected), (Fraction(each) for each in value.at)
    margin = Fraction(value.margin(float(size)))
    less_is_more = "geometric" in (value.what.get("pair"), value.what.get("calibrated"))
    more, less = (size - margin, size + margin) if less_is_more else (size + margin, size - margin)
    slack = float(failure) * (1 + 1e-9) + 1e-30
    if delta(with_noise(value.what, more), str(epsilon)).high > slack:
        return "contradicted"
    return "agree" if delta(with_noise(value.what, less), str(epsilon)).low > float(failure) else "tighter"


def shares(values: Iterator[Value] | None = None) -> list[Share]:
    """Peer by peer."""
    found: dict[str, Share] = {}
    for value in read_values() if values is None else values:
        share = found.setdefault(value.peer, Share(value.peer))
        result = outcome(value)
        share.outcomes[result] += 1
        if value.missing is not None:
            share.reasons[value.missing] += 1
        if result == "contradicted":
            share.contradicted.append(f"{value.test}: {value.what} at {value.at}, expected {value.expected}")
    return list(found.values())


def values_table(found: list[Share]) -> list[str]:
    """As markdown."""
    lines = ["| tests of | values | expressed | agree | tighter | contradicted |", "| --- | --- | --- | --- | --- | --- |"]
    total = Counter({"values": 0})
    for share in found:
        row = share.to_dict()
        names = ("values", "expressed", "agree", "tighter", "contradicted")
        lines.append(f"| {share.peer} | " + " | ".join(str(row[name]) for name in names) + " |")
        total.update({name: int(str(row[name])) for name in names})
    lines.append(
        "| all | " + " | ".join(str(total[name]) for name in ("values", "expressed", "agree", "tighter", "contradicted")) + " |"
    )
    reasons = sum((share.reasons for share in found), Counter[str]())
    told = ", ".join(f"{kind} ({count})" for kind, count in reasons.most_common())
    return [*lines, "", f"{100 * total['expressed'] / total['values']:.1f} % are expressed. Not: {told}."]
