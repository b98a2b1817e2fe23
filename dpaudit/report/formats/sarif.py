"""Writes a gate as SARIF 2.1.0 (OASIS standard), for code scanning: a result per finding, suppressed where it is waived."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from dpaudit import __version__
from dpaudit.claims.exit_codes import HOLDS, UNUSABLE
from dpaudit.claims.json_text import as_json
from dpaudit.claims.rules import RULES
from dpaudit.gate.results import Checked, Judged, Noted, SourcePlace
from dpaudit.report.content.check import accepted
from dpaudit.report.interface import Report, gate_of

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
STATES = {
    "unproven": ("the budget is not proven", "Make the proof complete, or ask for less with require = \"not-refuted\"."),
    "not-checked": ("the budget could not be checked", "Repair what the message names; what is not checked does not hold."),
}  # fmt: skip


def write(report: Report, room: int | None = None) -> str:
    return as_json(sarif(gate_of(report)))


def sarif(checked: Checked) -> dict[str, Any]:
    results = [result for budget in checked.budgets for result in _of_budget(budget)]
    results += [_result(finding, "error", finding.message) for finding in checked.findings]
    failed = [budget for budget in checked.budgets if budget.code == UNUSABLE]
    invocation = {
        "executionSuccessful": not failed, "exitCode": checked.exit,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": f"{b.name}: {b.reason}"}, "locations": [_location(b.place)]} for b in failed
        ],
    }  # fmt: skip
    driver = {"name": "dpaudit", "version": __version__, "semanticVersion": __version__, "rules": list(_rules())}
    run = {
        "tool": {"driver": driver}, "automationDetails": {"id": "dpaudit/check"}, "columnKind": "unicodeCodePoints",
        "invocations": [invocation], "results": results,
    }  # fmt: skip
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules() -> Iterator[dict[str, Any]]:
    for rule in RULES.values():
        yield _rule(rule.id, rule.title, rule.why, rule.remedy)
    for name, (title, remedy) in STATES.items():
        yield _rule(name, title, title, remedy)


def _rule(identifier: str, title: str, why: str, remedy: str) -> dict[str, Any]:
    return {
        "id": identifier, "name": identifier, "shortDescription": {"text": title}, "fullDescription": {"text": why},
        "help": {"text": f"{why} {remedy}", "markdown": f"{why}\n\n**What to do:** {remedy}"},
        "defaultConfiguration": {"level": "error"}, "properties": {"tags": ["privacy"]},
    }  # fmt: skip


def _of_budget(budget: Judged) -> Iterator[dict[str, Any]]:
    failing = [finding for finding in budget.findings if finding.fails and not finding.waiver]
    for finding in budget.findings:
        level = "error" if finding.fails else "warning" if budget.code != HOLDS else "note"
        yield _result(finding, level, f"{budget.name}: {finding.message}")
    if budget.code != HOLDS and not failing:
        rule = "not-checked" if budget.code == UNUSABLE else "unproven"
        yield {
            "ruleId": rule, "ruleIndex": _index(rule), "level": "error", "message": {"text": f"{budget.name}: {budget.reason}"},
            "locations": [_location(budget.place)], "partialFingerprints": {"dpaudit/v1": f"{rule}:{budget.name}"},
        }  # fmt: skip


def _result(finding: Noted, level: str, message: str) -> dict[str, Any]:
    waived = {"kind": "external", "status": "accepted", "justification": accepted(finding)}
    return {
        "ruleId": finding.rule, "ruleIndex": _index(finding.rule), "level": level, "message": {"text": message},
        "locations": [_location(finding.place)], "partialFingerprints": {"dpaudit/v1": finding.fingerprint},
        "suppressions": [waived] if finding.waiver else [],
    }  # fmt: skip


def _index(rule: str) -> int:
    return [*RULES, *STATES].index(rule)


def _location(place: SourcePlace) -> dict[str, Any]:
    file = {"uri": quote(place.file), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": file, "region": {"startLine": place.line}}}
