"""Verdicts as a page: the verdict first, then the ε interval drawn against the claim, then what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.claims import Verdict, float_up
from dpaudit.claims.decimals import number
from dpaudit.report.charts import interval
from dpaudit.report.findings import findings_html
from dpaudit.report.histogram import histogram
from dpaudit.report.page import Html, badge, element, facts, page, rows
from dpaudit.report.text import floored

WITNESS = {
    "batch": "batch", "event": "event", "probability": "probability on D", "neighbour_probability": "probability on D'",
    "other_probability": "probability on D'", "loss": "loss",
}  # fmt: skip
_LONG = 300  # letters of one fact of a witness; --witness FILE writes all of it


def audit_html(verdicts: Sequence[Verdict]) -> str:
    title = f"Audit: {', '.join(verdict.subject for verdict in verdicts)}"
    if len(verdicts) == 1:
        return page(title, [_section(verdicts[0], "h1")])
    listed = [[v.subject, str(v.claim), badge(str(v.verdict)), v.reason] for v in verdicts]
    overview = [element("h1", "Audit"), rows(["subject", "claim", "verdict", "why"], listed)]
    return page(title, [*overview, *(_section(verdict, "h2") for verdict in verdicts)])


def _section(verdict: Verdict, heading: str) -> Html:
    upper = None if verdict.upper is None else float_up(verdict.upper.epsilon)
    claim, below = float(verdict.claim.epsilon), "h2" if heading == "h1" else "h3"
    drawn = [interval(verdict.lower.epsilon, upper, claim)]
    if verdict.losses is not None:
        drawn.append(histogram(verdict.losses, claim))
    parts: list[Any] = [
        element(heading, verdict.subject, " ", badge(str(verdict.verdict))),
        element("p", element("strong", verdict.reason)),
        element("div", *drawn, class_="charts"),
        facts(audit_facts(verdict)),
        *findings_html(verdict.findings, below),
    ]
    if verdict.witness is not None:
        parts += [element(below, "Witness"), facts(witness_facts(verdict.witness))]
    return element("section", *parts)


def audit_facts(verdict: Verdict) -> dict[str, str]:
    """What the verdict rests on."""
    lower, upper = verdict.lower, verdict.upper
    sure = "exact" if lower.confidence == 1 else f"confidence {lower.confidence:.10g}"
    proven = "none" if upper is None else (
        f"ε ≤ {number(upper.epsilon)}: {upper.method}; sensitivity {upper.sensitivity}, path {upper.path}"
    )  # fmt: skip
    found = {
        "claim": f"{verdict.claim}, observer {verdict.claim.observer}, neighbours {verdict.neighbours}",
        "proven": proven,
        "attacked": f"ε ≥ {floored(lower.epsilon)}: {lower.method}, {sure}, {lower.samples:,} runs",
    }
    if verdict.detectable is not None:
        found["power"] = f"on the pairs tried, a true ε above {verdict.detectable:.4g} would have been found"
    return {**found, "seed": str(verdict.seed), "took": f"{verdict.seconds:.2f} s"}


def witness_facts(witness: Mapping[str, Any]) -> dict[str, str]:
    """The pair of data that the audit made, and what tells them apart; what only a replay needs is left out."""
    told = {"D": witness["data"], "D'": witness["neighbour"]}
    told |= {name: witness[key] for key, name in WITNESS.items() if key in witness}
    for place, moved in enumerate(witness.get("moved", ())):
        asked = f"D asks {moved['query']:.6g}, D' asks {moved['neighbour']:.6g}, released was {moved['output']:.6g}"
        told[f"release {place + 1}"] = f"{moved['release']}: {asked}"
    if "right" in witness:
        told["guesses"] = f"{witness['right']:,} right, {witness['wrong']:,} wrong in {witness['runs']:,} runs"
    if "log10_evidence" in witness:
        told["evidence"] = f"10^{witness['log10_evidence']:g} to 1 after {witness['draws']:,} draws"
    return {key: _shortened(str(value)) for key, value in told.items()}


def _shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
