"""The gate for a pull request or a job's summary."""

from __future__ import annotations

import re

from dpaudit.checked import Checked, Judged
from dpaudit.exit_codes import NOTHING
from dpaudit.report.check_text import MARKS, MOST, NONE, accepted, attacked, claimed, proven, summary, what_to_do
from dpaudit.report.markdown import table

HEADER = ("", "budget", "about", "claim", "proven ≤", "attacked ≥", "verdict", "gate", "change")


def check_markdown(checked: Checked) -> str:
    if checked.exit == NOTHING:
        return NONE
    parts = [f"## Privacy budgets: {_title(checked)}", ""]
    parts += [table(HEADER, [_row(budget) for budget in checked.budgets])]
    for budget in checked.budgets:
        if budget.state != "holds" or budget.findings:
            parts += ["", *_section(budget)]
    if checked.findings:
        parts += ["", table(("rule", "waiver"), [[finding.rule, plain(finding.message)] for finding in checked.findings])]
    if checked.removed:
        parts += ["", f"In the baseline, no longer configured: {', '.join(map(plain, checked.removed))}."]
    return "\n".join([*parts, "", summary(checked)])


def plain(text: str) -> str:
    """Text that stays text: nothing in it is read as HTML, a link, an image, a mention or emphasis."""
    return re.sub(r"([\\`*_{}\[\]<>#!|@~])", r"\\\1", " ".join(text.split())).replace("\\@", "@\u200b")


def _title(checked: Checked) -> str:
    return (
        "hold" if checked.exit == 0 else "not checked" if checked.exit == 2 else "violated" if checked.exit == 1 else "unproven"
    )


def _row(budget: Judged) -> list[str]:
    cells = [budget.name, budget.target, claimed(budget), proven(budget), attacked(budget), budget.verdict, budget.state]
    return [MARKS[budget.state], *_cells([*cells, budget.change or ""])]


def _section(budget: Judged) -> list[str]:
    parts = [f"### {plain(budget.name)}: {budget.verdict}", "", plain(budget.reason)]
    if budget.verdict == "unproven" and budget.detectable is not None:
        parts += ["", f"A true ε above {budget.detectable:.4g} would have been found."]
    if budget.findings:
        rows = [_cells([f.rule, f.message, f.where, f.fingerprint, accepted(f)]) for f in budget.findings[:MOST]]
        parts += ["", table(("rule", "finding", "where", "fingerprint", "waiver"), rows)]
    if budget.state == "fails":
        parts += ["", f"What to do: {what_to_do(budget)}"]
    return parts


def _cells(texts: list[str]) -> list[str]:
    """The table itself escapes the bar."""
    return [plain(text).replace("\\|", "|") for text in texts]
