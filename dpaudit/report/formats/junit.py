"""Writes a gate as JUnit XML: a test case per budget; what cannot be checked is an error, all else that fails a failure."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from dpaudit.claims.exit_codes import HOLDS, UNUSABLE
from dpaudit.gate.results import Judged
from dpaudit.report.content.check import accepted, claimed, proven, what_to_do
from dpaudit.report.interface import Report, gate_of

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def write(report: Report, room: int | None = None) -> str:
    checked = gate_of(report)
    errors = sum(budget.code == UNUSABLE for budget in checked.budgets)
    failures = sum(budget.code not in (HOLDS, UNUSABLE) for budget in checked.budgets) + len(checked.findings)
    numbers = {"tests": len(checked.budgets) + len(checked.findings), "failures": failures, "errors": errors, "skipped": 0}
    attributes = {"name": "dpaudit", **{key: str(value) for key, value in numbers.items()}, "time": f"{checked.seconds:.3f}"}
    root = ElementTree.Element("testsuites", attributes)
    suite = ElementTree.SubElement(root, "testsuite", attributes)
    for budget in checked.budgets:
        _case(suite, budget)
    for finding in checked.findings:
        case = ElementTree.SubElement(suite, "testcase", classname="dpaudit.waivers", name=finding.fingerprint, time="0.000")
        ElementTree.SubElement(case, "failure", message=_text(finding.message), type=finding.rule)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _case(suite: ElementTree.Element, budget: Judged) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname="dpaudit.budgets", name=_text(budget.name), time=f"{budget.seconds:.3f}",
        file=_text(budget.place.file), line=str(budget.place.line),
    )  # fmt: skip
    listed = ElementTree.SubElement(case, "properties")
    properties = {"verdict": budget.verdict, "claim": claimed(budget), "epsilon": proven(budget), "state": budget.state}
    for name, value in {**properties, **({"change": budget.change} if budget.change else {})}.items():
        ElementTree.SubElement(listed, "property", name=name, value=_text(value))
    lines = [f"{f.rule}: {f.message} ({f.where}) [{f.fingerprint}] {accepted(f)}".rstrip() for f in budget.findings]
    if budget.code == HOLDS:
        if lines:
            ElementTree.SubElement(case, "system-out").text = _text("\n".join(lines))
        return
    name = "error" if budget.code == UNUSABLE else "failure"
    failed = ElementTree.SubElement(case, name, message=_text(budget.reason), type=budget.verdict)
    failed.text = _text("\n".join([*lines, *([what_to_do(budget)] if name == "failure" else [])]))


def _text(text: str) -> str:
    """Without what no XML document may hold; the rest is escaped by the library."""
    return _NOT_XML.sub("\ufffd", text)
