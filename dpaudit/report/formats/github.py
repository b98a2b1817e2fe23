"""Writes a gate as a GitHub Actions log: the text for people, then an annotation per finding that fails.

Workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import secrets

from dpaudit.claims.exit_codes import HOLDS
from dpaudit.claims.rules import RULES
from dpaudit.gate.results import Checked, Judged, SourcePlace
from dpaudit.report.content.check import accepted
from dpaudit.report.formats.text import write as write_text
from dpaudit.report.interface import Report, gate_of


def write(report: Report, room: int | None = None) -> str:
    """The text stands between stop-commands and its token, so that nothing in it is taken for a command."""
    token = secrets.token_hex(16)
    text = [f"::stop-commands::{token}", write_text(report), f"::{token}::"]
    return "\n".join([*text, *list_annotations(gate_of(report))])


def list_annotations(checked: Checked) -> list[str]:
    lines = [line for budget in checked.budgets for line in _of_budget(budget)]
    return lines + [annotation("error", f.place, f"{f.rule} {RULES[f.rule].title}", f.message) for f in checked.findings]


def _of_budget(budget: Judged) -> list[str]:
    """One per finding: an error where the budget fails by it, a notice where it is waived, a warning else."""
    lines = []
    for finding in budget.findings:
        level = "notice" if finding.waiver else "error" if finding.fails and budget.code != HOLDS else "warning"
        title = f"{finding.rule} {RULES[finding.rule].title}: {budget.name}"
        message = f"{finding.message} [{finding.fingerprint}]" + (f"; {accepted(finding)}" if finding.waiver else "")
        lines.append(annotation(level, finding.place, title, message))
    if budget.code != HOLDS and not any(finding.fails and not finding.waiver for finding in budget.findings):
        lines.append(annotation("error", budget.place, f"{budget.name}: {budget.verdict}", budget.reason))
    return lines


def annotation(level: str, place: SourcePlace, title: str, message: str) -> str:
    return f"::{level} file={_property(place.file)},line={place.line},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
