"""What the canaries of a training show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.accountants.spending_history import Spending
from dpaudit.claims import show
from dpaudit.report.charts.canary_histogram import canary_histogram
from dpaudit.report.charts.timeline import timeline
from dpaudit.report.document import Badge, Block, Document, FactList, Figures, Heading, Section, Table, Tone
from dpaudit.report.interface import Depth, Report
from dpaudit.report.rounding import at_most
from dpaudit.training.canary_scores import CanaryScores
from dpaudit.training.checks.result import CheckResult

MEANING = "the bound holds if each canary was in by the auditor's own fair coin, and no coin had a part in its score"
TONES: dict[bool | None, Tone] = {True: "good", False: "bad", None: "open"}
OPEN = "nothing proves it: one training shows a lower bound, never an upper one"


@dataclass(frozen=True)
class TrainingPage:
    """What is shown beside the bound. ``spending``: how ε grew over the steps, and the budget."""

    runs: Sequence[CanaryScores]
    checks: Sequence[CheckResult] = ()
    spending: tuple[Spending, Fraction | None] | None = None


def canaries_report(data: Mapping[str, Any], delta: Fraction, page: TrainingPage) -> Report:
    """The bound first, then the claim, then what it rests on, then the checks; a page draws spending and scores."""
    runs = len(page.runs)
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
    blocks: list[Block] = [Heading(head), FactList(pairs)]

    def document(depth: Depth) -> Document:
        drawn = [] if depth == "terminal" else _drawn(page)
        return Document("Canaries", [Section([*blocks, *drawn, *_check_blocks(page.checks, depth)])])

    return Report(document, lambda: data)


def _drawn(page: TrainingPage) -> list[Block]:
    figures = []
    if page.spending is not None and page.spending[0].steps:
        figures.append(timeline(page.spending[0].steps, page.spending[1]))
    return [Figures([*figures, canary_histogram(page.runs)])]


def _check_blocks(checks: Sequence[CheckResult], depth: Depth) -> list[Block]:
    """A row for each check, those that failed first."""
    if not checks:
        return []
    ordered = sorted(checks, key=lambda check: (check.passed is not False, check.passed is None))
    if depth == "terminal":
        return [FactList([(_word(check), f"{check.name}: {check.message}{_measure(check)}") for check in ordered])]
    rows = [(Badge(_word(check), TONES[check.passed]), check.name, _measure(check, ""), check.message) for check in ordered]
    return [Heading("Checks while it ran", 2), Table(("", "check", "measure", "seen"), rows, "cards")]


def _word(check: CheckResult) -> str:
    return {True: "passed", False: check.rule, None: "not run"}[check.passed]


def _measure(check: CheckResult, before: str = "; ") -> str:
    if check.p_value is not None:
        return f"{before}p = {check.p_value:.2g}"
    return "" if check.gap is None else f"{before}gap {check.gap:.3g}, allowed {check.allowed:.3g}"


def _curve_words(curve: Mapping[str, Any]) -> str:
    outcome = "the releases' own curve δ(ε) is refuted" if curve["refuted"] else "the releases' own curve δ(ε) is not refuted"
    if curve["noise"] is None:
        return outcome
    return f"{outcome}; the noise was less than {_up(curve['noise'])} times what they say"


def _up(factor: float) -> str:
    """Three digits after the point, rounded up."""
    return f"{-(-factor * 1000 // 1) / 1000:.3f}"
