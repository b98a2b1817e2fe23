"""An account for a pull request."""

from __future__ import annotations

from dpaudit.claims import float_up
from dpaudit.report.account_html import HEADER, NOT_SUMS, Account
from dpaudit.report.charts import interval_text
from dpaudit.report.clients import clients_markdown
from dpaudit.report.findings import findings_markdown
from dpaudit.report.markdown import plain, table
from dpaudit.report.text import account_rows
from dpaudit.report.timeline import timeline_markdown


def account_markdown(account: Account) -> str:
    bound, spending = account.bound, account.spending
    state = "" if account.limit is None else f" ({'over' if account.over else 'within'} the {account.budget})"
    parts = [f"## {account.headline}{state}", "", f"{plain(account.name)}: {plain(bound.method)}"]
    if account.ceiling is not None:
        parts += ["", "```", interval_text(None, float_up(bound.epsilon), account.ceiling, "budget"), "```"]
    parts += ["", table(("observer", "bound"), list(account.observers.items()))]
    if spending.steps:
        parts += ["", timeline_markdown(spending.steps, account.ceiling)]
    parts += ["", f"Who pays most: {plain(account.worst)}"]
    if spending.shares:
        parts += ["", clients_markdown(spending.shares)] + (["", NOT_SUMS] if spending.summed else [])
    parts += findings_markdown(account.findings)
    listed, left = account_rows(bound.lines)
    if listed:
        parts += [
            "",
            "<details><summary>Releases</summary>",
            "",
            table(HEADER, [[plain(cell) for cell in row] for row in listed]),
        ]
        parts += ["", f"and {left:,} cheaper releases"] if left else []
        parts += ["", "</details>"]
    return "\n".join([*parts, *(line for note in bound.notes for line in ("", plain(note)))])
