"""An account as a page: the figure, who sees what, who pays most, and what each release costs."""

from __future__ import annotations

from dpaudit.claims import Bound, show
from dpaudit.report.charts import bars
from dpaudit.report.markdown import table
from dpaudit.report.page import Html, badge, element, facts, page, rows
from dpaudit.report.text import SEES, account_rows, number, worst_text

HEADER = ("release", "n", "ε0", "holds", "ε", "theorem", "needs")


def account_html(bound: Bound, name: str, budget: str | None, over: bool) -> str:
    state = [] if budget is None else [badge("over budget" if over else "within budget")]
    body: list[Html] = [
        element("h1", f"ε ≤ {number(bound.epsilon)}, δ = {show(bound.delta)} ", *state),
        element("p", name + (f", budget {budget}" if budget else ""), class_="soft"),
        facts({"method": bound.method, **_observers(bound), "worst client": _worst(bound)}),
    ]
    if bound.lines:
        listed, left = account_rows(bound.lines)
        body += [
            element("h2", "Releases"),
            bars([(line.batch, float(line.epsilon)) for line in bound.lines]),
            rows(HEADER, listed),
        ]
        body += [element("p", f"and {left} cheaper releases", class_="soft")] if left else []
    if bound.findings:
        body += [element("h2", "Findings"), rows(["rule", "finding"], [[f.rule, f.message] for f in bound.findings])]
    body += [element("p", note, class_="soft") for note in bound.notes]
    return page(f"Account: {name}", body)


def account_markdown(bound: Bound, name: str, budget: str | None, over: bool) -> str:
    """The same for a pull request."""
    state = "" if budget is None else f" ({'over' if over else 'within'} the budget {budget})"
    listed, left = account_rows(bound.lines)
    parts = [f"## {name}: ε ≤ {number(bound.epsilon)}, δ = {show(bound.delta)}{state}", "", bound.method, ""]
    parts += [table(["observer", "bound"], list(_observers(bound).items())), "", f"Worst client: {_worst(bound)}"]
    parts += ["", table(HEADER, listed)] if listed else []
    parts += [f"and {left} cheaper releases"] if left else []
    parts += ["", table(["rule", "finding"], [[f.rule, f.message] for f in bound.findings])] if bound.findings else []
    return "\n".join(parts)


def _observers(bound: Bound) -> dict[str, str]:
    return {who: f"ε ≤ {number(e)}, δ = {show(d)}: {SEES[who]}" for who, (e, d) in bound.per_observer.items()}


def _worst(bound: Bound) -> str:
    return worst_text(bound.worst_client) if bound.worst_client else "nobody"
