"""The gate as a page: whether it holds first, then every budget with its interval, its findings and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpaudit.accountants.client_shares import Share
from dpaudit.accountants.spending_history import Step
from dpaudit.claims import Losses, float_up
from dpaudit.claims.exit_codes import NOTHING
from dpaudit.claims.rules import RULES
from dpaudit.gate.results import Checked, Judged
from dpaudit.report.account_html import NOT_SUMS
from dpaudit.report.charts import interval
from dpaudit.report.check_text import NONE, accepted, attacked, claimed, proven, summary
from dpaudit.report.clients import clients_html
from dpaudit.report.findings import with_code
from dpaudit.report.histogram import histogram
from dpaudit.report.page import Html, badge, element, facts, page, rows
from dpaudit.report.timeline import timeline

TITLES = {0: "All budgets hold", 1: "A budget is violated", 2: "Not everything could be checked", 3: "Not everything is proven"}
TONES = {"holds": "good", "fails": "bad", "waived": "open", "not checked": "bad"}


def check_html(checked: Checked) -> str:
    if checked.exit == NOTHING:
        return page("Privacy budgets", [element("h1", "Privacy budgets"), element("p", NONE)])
    listed = [[_link(b), b.target, claimed(b), proven(b), attacked(b), badge(b.verdict), _state(b)] for b in checked.budgets]
    body = [
        element("h1", title(checked)),
        element("p", summary(checked), class_="soft"),
        rows(["budget", "about", "claim", "proven ≤", "attacked ≥", "verdict", "gate"], listed),
    ]
    if checked.findings:
        lines = [
            [finding.rule, finding.message, finding.where, with_code(RULES[finding.rule].remedy)] for finding in checked.findings
        ]
        body += [element("h2", "Waivers"), rows(["rule", "finding", "where", "what to do"], lines)]
    if checked.removed:
        body.append(element("p", f"In the baseline, no longer configured: {', '.join(checked.removed)}", class_="bad"))
    return page(f"Privacy budgets: {title(checked).lower()}", [*body, *(_section(budget) for budget in checked.budgets)])


def title(checked: Checked) -> str:
    """The whole gate in a few words; what holds by a waiver does not hold by itself."""
    waived = sum(budget.waived for budget in checked.budgets)
    return f"No budget fails, {waived} by waiver" if waived and checked.exit == 0 else TITLES[checked.exit]


def _link(budget: Judged) -> Html:
    return element("a", budget.name, href=f"#budget-{budget.name}")


def _state(budget: Judged) -> Html:
    return element("span", budget.state, class_=f"badge {TONES[budget.state]}")


def _section(budget: Judged) -> Html:
    parts: list[Any] = [
        element("h2", budget.name, " ", badge(budget.verdict), " ", _state(budget)),
        element("p", element("strong", budget.reason)),
    ]
    parts += [element("div", *_drawn(budget), class_="charts"), facts(check_facts(budget)), *_clients(budget)]
    if budget.findings:
        lines = [
            [f.rule, f.message, f.where, with_code(RULES[f.rule].remedy), f.fingerprint, accepted(f)] for f in budget.findings
        ]
        parts.append(rows(["rule", "finding", "where", "what to do", "fingerprint", "waiver"], lines))
    return element("section", *parts, id=f"budget-{budget.name}")


def _drawn(budget: Judged) -> Iterator[Html]:
    """The interval against the claim, and the audit's losses or the ledger's timeline."""
    claim, picture = float(budget.claim.epsilon), budget.picture or {}
    if budget.lower is not None or budget.upper is not None:
        lower = None if budget.lower is None else float(budget.lower["epsilon"])
        yield interval(lower, None if budget.upper is None else float_up(budget.upper), claim)
    if "losses" in picture:
        yield histogram(Losses(**picture["losses"]), claim)
    steps = [Step(**step) for step in picture.get("spending", {}).get("steps", ())]
    if steps:
        yield timeline(steps, claim)


def _clients(budget: Judged) -> Iterator[Html]:
    picture = budget.picture or {}
    if "worst" in picture:
        yield element("p", element("strong", "Who pays most: "), picture["worst"])
    shares = [Share(**share) for share in picture.get("spending", {}).get("shares", ())]
    if shares:
        yield clients_html(shares)
        yield from [element("p", NOT_SUMS, class_="soft")] if picture["spending"]["summed"] else []


def check_facts(budget: Judged) -> dict[str, str]:
    told = {"about": budget.target, "claim": f"{budget.claim}, observer {budget.claim.observer}", "required": budget.require}
    told |= {"change": budget.change} if budget.change is not None else {}
    told |= dict(budget.stated or {})
    if budget.lower is not None:
        lower = budget.lower
        told["attacked"] = f"{lower['method']}, {lower['samples']} runs"
    if budget.detectable is not None:
        told["power"] = f"on the pairs tried, a true ε above {budget.detectable:.4g} would have been found"
    return {**told, "took": f"{budget.seconds:.2f} s of at most {budget.timeout} s"}
