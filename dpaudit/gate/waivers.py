"""Waivers: each names one finding by its fingerprint, and ends on a day. Expired and unused ones fail (DPA008)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction

from dpaudit.claims.exit_codes import HOLDS, UNPROVEN, UNUSABLE, VIOLATED
from dpaudit.gate.budget_facts import BudgetFacts
from dpaudit.gate.policy import WAIVER_DAYS, GateBudget
from dpaudit.gate.results import Judged, Noted, SourcePlace, Waiver
from dpaudit.gate.source_places import finding_place, source_line, without_line

_RELEASE = re.compile(r"release '([^']*)'")


def fingerprint(rule: str, budget: GateBudget, where: str, message: str, line: str, figure: float | None = None) -> str:
    """16 hexadecimal digits that stay the same while lines move and figures change a little, and differ for another rule, budget,
    target, place or release, and where the ε that was accepted has grown beyond the next power of √2."""
    size = "" if figure is None or not 0 < figure < math.inf else str(math.ceil(2 * math.log2(figure) - 1e-6))
    parts = ["dpaudit.fingerprint/2", rule, budget.name, budget.target, without_line(where), line, size]
    parts += _RELEASE.findall(message)
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()[:16]


def note(facts: BudgetFacts, budget: GateBudget, place: SourcePlace, waivers: Sequence[Waiver], today: date) -> tuple[Noted, ...]:
    """The findings of one budget, each with its fingerprint, its line and the waiver in force, if there is one."""
    noted = []
    for number, finding in enumerate(facts.findings):
        rule, message, where = finding["rule"], finding["message"], finding["where"]
        mark = fingerprint(rule, budget, where, message, source_line(where, facts), _figure(rule, facts))
        waiver = next((w for w in waivers if (w.rule, w.fingerprint) == (rule, mark) and w.expires >= today), None)
        noted.append(Noted(rule, message, where, mark, finding_place(where, facts, place), number in facts.causes, waiver))
    return tuple(noted)


def _figure(rule: str, facts: BudgetFacts) -> float | None:
    """The ε that somebody accepts by waiving this rule."""
    if rule == "DPA001":
        return None if facts.upper is None else float(Fraction(facts.upper))
    return float(facts.lower["epsilon"]) if rule == "DPA004" and facts.lower is not None else None


def waived_code(code: int, facts: BudgetFacts, noted: Sequence[Noted]) -> int:
    """0 where every finding that a budget fails by is waived and nothing else stands in its way. Code 2 is never waived."""
    causes = [finding for finding in noted if finding.fails]
    if code in (VIOLATED, UNPROVEN) and facts.complete and causes and all(finding.waiver for finding in causes):
        return HOLDS
    return code


def stale(
    waivers: Sequence[Waiver], budgets: Sequence[Judged], places: Sequence[SourcePlace], today: date, longest: int = WAIVER_DAYS
) -> list[Noted]:
    """DPA008 for every waiver that has ended, runs too long or that nothing needs.

    While a budget is not checked, nobody knows the last; and what a waiver of DPA009 allows is one change on another branch.
    """
    used = {(finding.rule, finding.fingerprint) for budget in budgets for finding in budget.findings if finding.waiver}
    known = all(budget.code != UNUSABLE for budget in budgets)
    noted = []
    for waiver, place in zip(waivers, places, strict=True):
        about = f"the waiver of {waiver.rule} {waiver.fingerprint} by {waiver.owner}"
        if waiver.expires < today:
            message = f"{about} expired on {waiver.expires.isoformat()}"
        elif (waiver.expires - today).days > longest:
            message = f"{about} runs until {waiver.expires.isoformat()}: at most {longest} days from today (waiver_days)"
        elif known and waiver.rule != "DPA009" and (waiver.rule, waiver.fingerprint) not in used:
            message = f"{about} is not used: no finding has this fingerprint"
        else:
            continue
        noted.append(Noted("DPA008", message, f"{place.file}:{place.line}", waiver.fingerprint, place, fails=True))
    return noted


def with_findings(judged: Judged, facts: BudgetFacts, noted: tuple[Noted, ...]) -> Judged:
    return replace(judged, findings=noted, code=waived_code(judged.code, facts, noted))
