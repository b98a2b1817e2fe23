"""Verdicts as a page: the verdict first, then the ε interval drawn against the claim, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.claims import Verdict
from dpaudit.report.charts import interval
from dpaudit.report.markdown import table
from dpaudit.report.page import Html, badge, element, facts, page, rows
from dpaudit.report.text import floored, number
from dpaudit.rules import RULES


def audit_html(verdicts: Sequence[Verdict]) -> str:
    title = f"Audit: {', '.join(verdict.subject for verdict in verdicts)}"
    body = [element("h1", "Audit")]
    if len(verdicts) > 1:
        body.append(rows(["subject", "claim", "verdict"], [[v.subject, str(v.claim), badge(str(v.verdict))] for v in verdicts]))
    return page(title, [*body, *(_section(verdict) for verdict in verdicts)])


def _section(verdict: Verdict) -> Html:
    upper = None if verdict.upper is None else float(verdict.upper.epsilon)
    parts: list[Any] = [
        element("h2", verdict.subject, " ", badge(str(verdict.verdict))),
        element("p", element("strong", verdict.reason)),
        interval(verdict.lower.epsilon, upper, float(verdict.claim.epsilon)),
        facts(_facts(verdict)),
    ]
    if verdict.findings:
        lines = [[f.rule, f.message, f.where, RULES[f.rule].remedy] for f in verdict.findings]
        parts.append(rows(["rule", "finding", "where", "what to do"], lines))
    if verdict.witness is not None:
        parts += [element("p", "witness", class_="soft"), facts({key: str(value) for key, value in verdict.witness.items()})]
    return element("section", *parts)


def _facts(verdict: Verdict) -> dict[str, str]:
    lower, upper = verdict.lower, verdict.upper
    sure = "exact" if lower.confidence == 1 else f"confidence {lower.confidence:.10g}"
    proven = "none" if upper is None else (
        f"ε ≤ {number(upper.epsilon)}: {upper.method}; sensitivity {upper.sensitivity}, path {upper.path}"
    )  # fmt: skip
    found = {
        "claim": f"{verdict.claim}, observer {verdict.claim.observer}, neighbours {verdict.neighbours}",
        "proven": proven,
        "attacked": f"ε ≥ {floored(lower.epsilon)}: {lower.method}, {sure}, {lower.samples} runs",
    }
    if verdict.detectable is not None:
        found["power"] = f"a true ε above {verdict.detectable:.4g} would have been found"
    return {**found, "seed": str(verdict.seed), "took": f"{verdict.seconds:.2f} s"}


def audit_markdown(verdicts: Sequence[Verdict]) -> str:
    """The same for a pull request."""
    parts = ["## Audit"]
    for verdict in verdicts:
        parts += ["", f"### {verdict.subject}: {verdict.verdict}", "", verdict.reason, ""]
        parts.append(table(["", ""], [[f"**{name}**", value] for name, value in _facts(verdict).items()]))
        if verdict.findings:
            parts += ["", table(["rule", "finding", "where"], [[f.rule, f.message, f.where] for f in verdict.findings])]
    return "\n".join(parts)
