"""An account as a page: the figure against the budget, how it grew, who sees what, who pays most, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.spending_history import Spending
from dpaudit.accountants.worst_client import worst_text
from dpaudit.claims import Bound, Finding, float_up, show
from dpaudit.claims.decimals import number
from dpaudit.report.charts import interval
from dpaudit.report.clients import clients_html
from dpaudit.report.findings import findings_html
from dpaudit.report.page import Html, badge, element, facts, page, rows
from dpaudit.report.text import SEES, account_rows
from dpaudit.report.timeline import timeline

HEADER = ("release", "n", "ε0", "holds", "ε", "theorem", "needs")
NOT_SUMS = "These are plain sums of what each client's releases cost; the proven figure composes them more tightly."


@dataclass(frozen=True)
class Account:
    """All that the page of one ledger shows. ``limit``: the budget, if there is one."""

    name: str
    bound: Bound
    spending: Spending
    limit: tuple[Fraction, Fraction] | None
    over: bool
    findings: Sequence[Finding]

    @property
    def headline(self) -> str:
        return f"ε ≤ {number(self.bound.epsilon)}, δ = {show(self.bound.delta)}"

    @property
    def budget(self) -> str:
        return "" if self.limit is None else f"budget ε = {number(self.limit[0])}, δ = {show(self.limit[1])}"

    @property
    def ceiling(self) -> float | None:
        return None if self.limit is None else float(self.limit[0])

    @property
    def observers(self) -> dict[str, str]:
        return {who: f"ε ≤ {number(e)}, δ = {show(d)}: {SEES[who]}" for who, (e, d) in self.bound.per_observer.items()}

    @property
    def worst(self) -> str:
        return worst_text(self.bound.worst_client) if self.bound.worst_client else "nobody"


def account_html(account: Account) -> str:
    bound, spending = account.bound, account.spending
    state = [] if account.limit is None else [badge("over budget" if account.over else "within budget")]
    drawn: list[Html] = []
    if account.ceiling is not None:
        drawn.append(interval(None, float_up(bound.epsilon), account.ceiling, "budget"))
    if spending.steps:
        drawn.append(timeline(spending.steps, account.ceiling))
    body = [
        element("h1", account.headline, " ", *state),
        element("p", ", ".join(filter(None, [account.name, account.budget])), class_="soft"),
        element("div", *drawn, class_="charts"),
        facts({"method": bound.method, **account.observers}),
        element("h2", "Who pays most"),
        element("p", account.worst),
    ]
    if spending.shares:
        body += [clients_html(spending.shares)] + ([element("p", NOT_SUMS, class_="soft")] if spending.summed else [])
    body += findings_html(account.findings)
    if bound.lines:
        listed, left = account_rows(bound.lines)
        body += [element("h2", "Releases"), rows(HEADER, listed, "wide roomy")]
        body += [element("p", f"and {left:,} cheaper releases", class_="soft")] if left else []
    body += [element("p", note, class_="soft") for note in bound.notes]
    return page(f"Account: {account.name}", body)
