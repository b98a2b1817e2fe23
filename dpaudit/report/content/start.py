"""What the first commands say: the demo, one run, a rule explained, first files, the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.claims.rules import Rule
from dpaudit.gate.results import Checked
from dpaudit.report.content.check import check_report
from dpaudit.report.document import Document, Heading, Listing, Paragraph, Section, Table, facts
from dpaudit.report.interface import Depth, Report
from dpaudit.report.rounding import at_least, at_most

DEMO = ("model", "calibration", "claimed", "proven ≤", "attacked ≥", "verdict", "mean regret")


def demo_report(data: Mapping[str, Any], title: str) -> Report:
    rows = data["rows"]
    body = [
        (
            row["model"], row["calibration"], claim_words(row["claim"]), at_most_or_none(row["upper"]),
            at_least(row["lower"], Fraction(row["claim"]["epsilon"])), row["verdict"], f"{row['regret']:.0f}",
        )
        for row in rows
    ]  # fmt: skip
    why = Listing([f"{row['model']}, {row['calibration']}: {row['why']}" for row in rows])
    sections = [Section([Heading(title)]), Section([Table(DEMO, body)]), Section([why])]
    return Report(lambda depth: Document("Demo", sections), lambda: data)


def claim_words(claim: Mapping[str, str], equals: str = "=") -> str:
    """A claim of a JSON document; δ where there is one."""
    return f"ε{equals}{claim['epsilon']}" + (f", δ{equals}{claim['delta']}" if claim["delta"] != "0" else "")


def at_most_or_none(upper: str | None) -> str:
    return "none" if upper is None else at_most(Fraction(upper))


def run_report(data: Mapping[str, Any], notes: Mapping[str, str]) -> Report:
    head = f"{data['algorithm']} ({data['calibration']}): regret {data['regret']:.6g} in {data['horizon']} rounds, "
    words, spent = {"door": data["door"]}, data["spent"]
    if spent is not None:
        words["spent"] = f"ε = {at_most(Fraction(spent['epsilon']))}, δ = {spent['delta']} for the worst client"
    words |= {finding["rule"]: finding["message"] for finding in data["findings"]}
    words |= {key: value for key, value in notes.items() if key != "witness trials"}
    section = Section([Heading(head + claim_words(data, " = ")), facts(words, 13)])
    return Report(lambda depth: Document("Run", [section]), lambda: data)


def rules_report(rules: Sequence[Rule]) -> Report:
    """All of them, one line each."""
    section = Section([Heading("dpaudit explain RULE says why, and what to do"), facts({each.id: each.title for each in rules})])
    data = {"schema": "dpaudit.explain/1", "rules": [vars(each) for each in rules]}
    return Report(lambda depth: Document("Rules", [section]), lambda: data)


def rule_report(rule: Rule) -> Report:
    section = Section([Heading(f"{rule.id}: {rule.title}"), facts({"why": rule.why, "do": rule.remedy})])
    return Report(lambda depth: Document(rule.id, [section]), lambda: {"schema": "dpaudit.explain/1", **vars(rule)})


def init_report(done: Mapping[str, str], checked: Checked) -> Report:
    """What was written and kept, the gate's table, and what to do with it."""
    gate = check_report(checked)
    steps = Listing(
        [
            "dpaudit audit privacy/ratings.py: the verdict in full",
            "pytest privacy: the same as a test",
            "change privacy/ratings.py into yours, and the budget in pyproject.toml",
        ]
    )
    files, next_steps = Section([Heading("files"), facts(dict(done), 33)]), Section([Heading("next"), steps])
    data = {"schema": "dpaudit.init/1", "files": dict(done), "check": checked.to_dict()}

    def document(depth: Depth) -> Document:
        return Document("First files", [files, *gate.document(depth).sections, next_steps])

    return Report(document, lambda: data)


def doctor_report(found: Sequence[Mapping[str, str]]) -> Report:
    """Every part with its mark; below, what to do about what is missing."""
    marks = {"fine": "✓", "absent": "·", "broken": "✗"}
    rows = [(f"{marks[fact['state']]} {fact['part']}", fact["found"]) for fact in found]
    todo = [f"{fact['part']}: {fact['remedy']}" for fact in found if fact["remedy"]]
    broken = [fact["part"] for fact in found if fact["state"] == "broken"]
    end = f"not fit: {', '.join(broken)}" if broken else "fit; parts with · are extras"
    sections = [
        Section([Table(("part", "found"), rows)]),
        *([Section([Listing(todo)])] if todo else []),
        Section([Paragraph(end)]),
    ]
    data = {"schema": "dpaudit.doctor/1", "parts": [dict(fact) for fact in found], "fit": not broken}
    return Report(lambda depth: Document("Doctor", sections), lambda: data)
