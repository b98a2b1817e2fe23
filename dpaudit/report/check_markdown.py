"""The gate for a pull request or a job's summary: the table, then every budget with what the page shows."""

from __future__ import annotations

from dpaudit.accountants.client_shares import Share
from dpaudit.accountants.spending_history import Step
from dpaudit.claims import Losses, float_up
from dpaudit.claims.exit_codes import NOTHING
from dpaudit.gate.results import Checked, Judged
from dpaudit.report.account_html import NOT_SUMS
from dpaudit.report.charts import interval_text
from dpaudit.report.check_html import check_facts
from dpaudit.report.check_text import MARKS, MOST, NONE, accepted, attacked, claimed, proven, summary, what_to_do
from dpaudit.report.clients import clients_markdown
from dpaudit.report.histogram import histogram_text
from dpaudit.report.markdown import plain, table
from dpaudit.report.timeline import timeline_markdown

HEADER = ("", "budget", "about", "claim", "proven ≤", "attacked ≥", "verdict", "gate", "change")


def check_markdown(checked: Checked) -> str:
    if checked.exit == NOTHING:
        return NONE
    parts = [f"## Privacy budgets: {_title(checked)}", ""]
    parts += [table(HEADER, [_row(budget) for budget in checked.budgets])]
    for budget in checked.budgets:
        parts += ["", *_section(budget)]
    if checked.findings:
        parts += ["", table(("rule", "waiver"), [[finding.rule, plain(finding.message)] for finding in checked.findings])]
    if checked.removed:
        parts += ["", f"In the baseline, no longer configured: {', '.join(map(plain, checked.removed))}."]
    return "\n".join([*parts, "", summary(checked)])


def _title(checked: Checked) -> str:
    waived = sum(budget.waived for budget in checked.budgets)
    if waived and checked.exit == 0:
        return f"none fails, {waived} by waiver"
    return {0: "hold", 1: "violated", 2: "not checked"}.get(checked.exit, "unproven")


def _row(budget: Judged) -> list[str]:
    cells = [budget.name, budget.target, claimed(budget), proven(budget), attacked(budget), budget.verdict, budget.state]
    return [MARKS[budget.state], *map(plain, [*cells, budget.change or ""])]


def _section(budget: Judged) -> list[str]:
    """What fails or was found is seen at once; the rest unfolds."""
    parts = [f"### {plain(budget.name)}: {budget.verdict}", "", plain(budget.reason)]
    if budget.findings:
        rows = [[*map(plain, [f.rule, f.message, f.where, f.fingerprint, accepted(f)])] for f in budget.findings[:MOST]]
        parts += ["", table(("rule", "finding", "where", "fingerprint", "waiver"), rows)]
    if budget.state == "fails":
        parts += ["", f"What to do: {what_to_do(budget)}"]
    return [*parts, "", "<details><summary>What it rests on</summary>", *_details(budget), "", "</details>"]


def _details(budget: Judged) -> list[str]:
    claim, picture, parts = float(budget.claim.epsilon), budget.picture or {}, []
    if budget.lower is not None or budget.upper is not None:
        lower = None if budget.lower is None else float(budget.lower["epsilon"])
        drawn = interval_text(lower, None if budget.upper is None else float_up(budget.upper), claim)
        parts += ["", "```", drawn, "```"]
    parts += ["", table(("", ""), [[f"**{plain(name)}**", plain(value)] for name, value in check_facts(budget).items()])]
    if "losses" in picture:
        parts += ["", "```", histogram_text(Losses(**picture["losses"]), claim), "```"]
    steps = [Step(**step) for step in picture.get("spending", {}).get("steps", ())]
    parts += ["", timeline_markdown(steps, claim)] if steps else []
    parts += ["", f"Who pays most: {plain(picture['worst'])}"] if "worst" in picture else []
    shares = [Share(**share) for share in picture.get("spending", {}).get("shares", ())]
    if shares:
        parts += ["", clients_markdown(shares), *(["", NOT_SUMS] if picture["spending"]["summed"] else [])]
    return parts
