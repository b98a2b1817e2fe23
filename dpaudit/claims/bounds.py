"""Bounds on ε: enclosures of formulas, what accountants prove from above, what auditors show from below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from dpaudit.claims.decimals import show
from dpaudit.claims.errors import InvalidValue


@dataclass(frozen=True)
class Finding:
    """Something a rule has to say, and where. A finding never refutes by itself.

    ``release``: the name of the release that it is about, for whoever looks it up; no part of the JSON.
    """

    rule: str
    message: str
    where: str = ""
    release: str | None = None

    def to_dict(self) -> dict[str, str]:
        return {"rule": self.rule, "message": self.message, "where": self.where}


@dataclass(frozen=True)
class Enclosure:
    """A number known to lie in [lower, upper]. ``in_domain``: does the theorem behind it hold there?"""

    lower: Fraction
    upper: Fraction
    in_domain: bool = True
    method: str = ""
    attack: Fraction | None = None  # a proven lower bound on the true ε of the same randomiser, for the same observer

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise InvalidValue("enclosure", (self.lower, self.upper), "ordered")


@dataclass(frozen=True)
class Line:
    """One release, or one batch of reports, as an accountant read it."""

    batch: str
    n: int
    epsilon0: Fraction
    in_domain: bool
    epsilon: Fraction
    theorem: str
    preconditions: str
    delta: Fraction = Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "batch": self.batch,
            "n": self.n,
            "epsilon0": show(self.epsilon0),
            "in_domain": self.in_domain,
            "epsilon": show(self.epsilon),
            "delta": show(self.delta),
            "theorem": self.theorem,
            "preconditions": self.preconditions,
        }


@dataclass(frozen=True)
class Bound:
    """A proven upper bound, for the default observer and per observer."""

    epsilon: Fraction
    delta: Fraction
    method: str
    per_observer: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    worst_client: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[Line] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()  # what was not used, and why


@dataclass(frozen=True)
class Lower:
    """A lower bound on ε at the claim's δ, with the confidence at which it holds (1 for an exact witness)."""

    epsilon: float
    confidence: float
    method: str
    samples: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "confidence": self.confidence,
            "method": self.method,
            "samples": self.samples,
        }


@dataclass(frozen=True)
class Upper:
    """An upper bound on ε at the claim's δ: how it was reached, and what it rests on."""

    epsilon: Fraction
    method: str
    sensitivity: Literal["proven", "tested", "declared"]
    path: Literal["enforced", "single", "observed"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": show(self.epsilon),
            "method": self.method,
            "sensitivity": self.sensitivity,
            "path": self.path,
        }


@dataclass(frozen=True)
class Losses:
    """Privacy losses log P(view|D) − log P(view|D') of an audit's own runs, counted in bins of equal width; what lies outside
    is counted in the outermost. ``score``: by likelihood ratio, or as a score learned from other runs estimates them.
    """

    low: float
    high: float
    data: Sequence[int]  # runs on D in each bin
    neighbour: Sequence[int]  # runs on D'
    score: str

    def edges(self) -> list[float]:
        width = (self.high - self.low) / len(self.data)
        return [self.low + place * width for place in range(len(self.data) + 1)]
