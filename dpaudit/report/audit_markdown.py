"""Verdicts for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.claims import Verdict, float_up
from dpaudit.report.audit_html import audit_facts, witness_facts
from dpaudit.report.charts import interval_text
from dpaudit.report.findings import findings_markdown
from dpaudit.report.histogram import histogram_text
from dpaudit.report.markdown import plain, table


def audit_markdown(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(["## Audit", *(line for verdict in verdicts for line in _section(verdict))])


def _section(verdict: Verdict) -> list[str]:
    upper, claim = None if verdict.upper is None else float_up(verdict.upper.epsilon), float(verdict.claim.epsilon)
    parts = ["", f"### {plain(verdict.subject)}: {verdict.verdict}", "", plain(verdict.reason), ""]
    parts += ["```", interval_text(verdict.lower.epsilon, upper, claim), "```", "", _facts(audit_facts(verdict))]
    if verdict.losses is not None:
        drawn = ["```", histogram_text(verdict.losses, claim), "```"]
        parts += ["", "<details><summary>Privacy losses</summary>", "", *drawn, "", "</details>"]
    parts += findings_markdown(verdict.findings)
    if verdict.witness is not None:
        parts += ["", "<details><summary>Witness</summary>", "", _facts(witness_facts(verdict.witness)), "", "</details>"]
    return parts


def _facts(told: dict[str, str]) -> str:
    return table(("", ""), [[f"**{plain(name)}**", plain(value)] for name, value in told.items()])
