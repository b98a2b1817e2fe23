"""The gate for a terminal: one table, then what failed, why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.claims.decimals import number
from dpaudit.claims.exit_codes import HOLDS, NOTHING
from dpaudit.claims.rules import RULES
from dpaudit.gate.results import Checked, Judged, Noted
from dpaudit.report.text import floored, table, wrapped

MARKS = {"holds": "✓", "fails": "✗", "waived": "~", "not checked": "!"}
MOST = 10  # findings of one budget that are written out
NONE = "nothing to check: pyproject.toml has no [tool.dpaudit.budgets.NAME]"
HEADER = ("  budget", "about", "claim", "proven ≤", "attacked ≥", "verdict", "gate")


def check_text(checked: Checked) -> str:
    if checked.exit == NOTHING:
        return NONE
    lines = [table(HEADER, [_row(budget) for budget in checked.budgets])] if checked.budgets else []
    for budget in checked.budgets:
        told = _told(budget)
        lines += ["", *told] if told else []
    for finding in checked.findings:
        lines += ["", *_finding(finding)]
    if checked.removed:
        lines += ["", *wrapped("removed", f"in the baseline, no longer configured: {', '.join(checked.removed)}")]
    return "\n".join([*lines, "", summary(checked)])


def summary(checked: Checked) -> str:
    """How many hold, in one line."""
    states = [budget.state for budget in checked.budgets]
    counts = ", ".join(_several(states.count(state), state) for state in MARKS if state in states)
    stale = f", {count(checked.findings, 'waiver')} expired or unused" if checked.findings else ""
    most = sum(budget.timeout for budget in checked.budgets)
    took = f"seed {checked.seed}, {checked.seconds:.1f} s of at most {most} s"
    return f"{count(states, 'budget')}: {counts}{stale}; {took}; exit {checked.exit}"


def _several(number: int, state: str) -> str:
    return f"{number} {state.removesuffix('s') if number > 1 else state}"


def count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def claimed(budget: Judged) -> str:
    """The claim, with its observer where that is not the server."""
    observer = budget.claim.observer
    return str(budget.claim) + (f", {observer}" if observer != "server" else "")


def proven(budget: Judged) -> str:
    return "none" if budget.upper is None else number(budget.upper)


def attacked(budget: Judged) -> str:
    return "" if budget.lower is None else floored(budget.lower["epsilon"])


def accepted(finding: Noted) -> str:
    """Who decided to live with it, until when and why; empty where nobody did."""
    waiver = finding.waiver
    return "" if waiver is None else f"waived until {waiver.expires.isoformat()} by {waiver.owner}: {waiver.reason}"


def _row(budget: Judged) -> tuple[str, ...]:
    name = f"{MARKS[budget.state]} {budget.name}"
    return name, budget.target, claimed(budget), proven(budget), attacked(budget), budget.verdict, budget.state


def _told(budget: Judged) -> list[str]:
    """What is to be said beside the table; nothing where all is well."""
    quiet = budget.code == HOLDS and not budget.findings and budget.verdict == "certified"
    if quiet and budget.change is None:
        return []
    state = "" if budget.state == budget.verdict else f"  ({budget.state})"
    lines = [f"{MARKS[budget.state]} {budget.name}: {budget.verdict.upper()}{state}"]
    if not quiet:
        lines += wrapped("why", budget.reason)
    if budget.verdict == "unproven" and budget.detectable is not None:
        lines += wrapped("power", f"on the pairs tried, a true ε above {budget.detectable:.4g} would have been found")
    if budget.change is not None:
        lines += wrapped("change", budget.change)
    for finding in budget.findings[:MOST]:
        lines += _finding(finding)
    left = len(budget.findings) - MOST
    lines += wrapped("", f"and {left} more findings; --format json lists all") if left > 0 else []
    if budget.state == "fails":
        lines += wrapped("do", what_to_do(budget))
    return lines


def what_to_do(budget: Judged) -> str:
    """The remedies of the rules by which it fails."""
    rules = dict.fromkeys(finding.rule for finding in budget.findings if finding.fails and not finding.waiver)
    if not rules:
        return 'make the proof complete (dpaudit audit says more), or ask for less: require = "not-refuted"'
    return " ".join(RULES[rule].remedy for rule in rules)


def _finding(finding: Noted) -> list[str]:
    where = f" ({finding.where})" if finding.where else ""
    lines = wrapped(finding.rule, f"{finding.message}{where} [{finding.fingerprint}]")
    return lines + (wrapped("", accepted(finding)) if finding.waiver else [])
