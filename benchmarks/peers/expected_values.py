"""What peers' own tests expect, as data with its source, and how much of it dpaudit expresses, agrees with, is tighter than.

A value whose quantity is not in ``QUANTITIES`` counts as not expressed: a new kind counts as soon as it has a line there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchmarks.peers.environments import HERE
from dpaudit.accountants.sampling import SampledGaussian, sampled_delta, sampled_epsilon
from dpaudit.claims import Enclosure

CLOSE = 1e-6  # relative


@dataclass(frozen=True)
class Share:
    """How many of a peer's values stand in the data, and what became of them."""

    peer: str
    values: int
    expressed: int
    agree: int
    tighter: int
    contradicted: int


def _groups(value: dict[str, Any]) -> list[SampledGaussian]:
    return [SampledGaussian(rate, sigma, count) for rate, sigma, count in value["groups"]]


QUANTITIES: dict[str, Callable[[dict[str, Any]], Enclosure]] = {
    "epsilon": lambda value: sampled_epsilon(_groups(value), value["at"]),
    "delta": lambda value: sampled_delta(_groups(value), value["at"]),
}


def _expected(value: dict[str, Any]) -> float:
    """The number in the test, or what its closed form gives (Balle & Wang 2018, Thm 8)."""
    if value["expected"] != "gaussian":
        return float(value["expected"])
    mu = math.sqrt(sum(count / float(Fraction(sigma)) ** 2 for _, sigma, count in value["groups"]))
    level = float(value["at"])
    above, below = (math.erfc((level / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1))
    return above - math.exp(level) * below


def outcome(value: dict[str, Any]) -> str:
    """ "agree", "tighter", "contradicted", or "not expressed".

    An upper bound is contradicted where it lies below what is proven from below; an exact value also where it lies above. An
    approximation without a direction is contradicted by nothing, and does not agree unless it is close.
    """
    if value["quantity"] not in QUANTITIES:
        return "not expressed"
    found, expected = QUANTITIES[value["quantity"]](value), _expected(value)
    low, high = float(found.lower), float(found.upper)
    if low * (1 - CLOSE) <= expected <= high * (1 + CLOSE):
        return "agree"
    if value["claim"] == "approximate":
        return "expressed"
    if value["claim"] == "upper" and expected > high:
        return "tighter"
    return "contradicted"


def shares() -> Iterator[Share]:
    """Peer by peer."""
    values = json.loads((HERE / "expected_values.json").read_text())["values"]
    for peer in dict.fromkeys(value["peer"] for value in values):
        outcomes = [outcome(value) for value in values if value["peer"] == peer]
        expressed = sum(each != "not expressed" for each in outcomes)
        yield Share(peer, len(outcomes), expressed, *(outcomes.count(each) for each in ("agree", "tighter", "contradicted")))
