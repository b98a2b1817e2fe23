"""What the canaries of a training show."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.claims import show
from dpaudit.report.document import Document, FactList, Heading, Section
from dpaudit.report.interface import Report
from dpaudit.report.rounding import at_most

MEANING = "the bound holds if each canary was in by the auditor's own fair coin, and no coin had a part in its score"
OPEN = "nothing proves it: one training shows a lower bound, never an upper one"


def canaries_report(data: Mapping[str, Any], delta: Fraction, runs: int) -> Report:
    """The bound first, then the claim, then what it rests on."""
    lower, claim = data["lower"], data["claim"]
    head = f"ε ≥ {lower['epsilon']:.6g} at δ = {show(delta)}, confidence {lower['confidence']:.6g}"
    if data["verdict"] is not None:
        head = f"{data['verdict']}: {head}"
    trainings = "one training" if runs == 1 else f"{runs} trainings, pooled"
    pairs = [("from", f"{lower['canaries']:,} canaries of {trainings}")]
    if claim is not None:
        pairs.append(("claim", f"ε = {at_most(Fraction(claim['epsilon']))}, δ = {claim['delta']}"))
    if data["verdict"] == "unproven":
        pairs.append(("", OPEN))
    if (curve := data.get("curve")) is not None:
        pairs.append(("curve", _curve_words(curve)))
    pairs += [("method", lower["method"]), ("holds", MEANING)]
    return Report(lambda depth: Document("Canaries", [Section([Heading(head), FactList(pairs)])]), lambda: data)


def _curve_words(curve: Mapping[str, Any]) -> str:
    outcome = "the releases' own curve δ(ε) is refuted" if curve["refuted"] else "the releases' own curve δ(ε) is not refuted"
    if curve["noise"] is None:
        return outcome
    return f"{outcome}; the noise was less than {_up(curve['noise'])} times what they say"


def _up(factor: float) -> str:
    """Three digits after the point, rounded up."""
    return f"{-(-factor * 1000 // 1) / 1000:.3f}"
