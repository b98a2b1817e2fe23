"""Waivers: one finding each, until a day; they never hide silently, and end in DPA008."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from dpaudit.claims import Claim
from dpaudit.cli import main
from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import GateBudget
from dpaudit.gate.results import Judged, SourcePlace, Waiver
from dpaudit.gate.waivers import fingerprint, note, stale, waived_code

Gate = Callable[..., Any]
NEXT_MONTH = (date.today() + timedelta(days=30)).isoformat()
TODAY = date(2027, 1, 31)
SERVICE = GateBudget("service", Claim("1"), subject="mine.py:thin")
HERE = SourcePlace("mine.py", 1)


def finding(rule: str, where: str = "thin", message: str = "m") -> dict[str, str]:
    return {"rule": rule, "message": message, "where": where}


def waiver(rule: str, where: str = "thin", expires: date = TODAY, message: str = "m") -> Waiver:
    return Waiver(rule, fingerprint(rule, SERVICE, where, message, ""), "accepted for the pilot", "ann", expires)


def written(mark: str, rule: str = "DPA004", expires: str = NEXT_MONTH) -> str:
    return (
        f'[[tool.dpaudit.waive]]\nrule = "{rule}"\nfingerprint = "{mark}"\nreason = "pilot only"\nowner = "ann"\n'
        f"expires = {expires}\n"
    )


def code(found: BudgetFacts, *waivers: Waiver) -> int:
    return waived_code(found.exit_code(SERVICE.require), found, note(found, SERVICE, HERE, waivers, TODAY))


REFUTED = BudgetFacts("refuted", "r", findings=[finding("DPA003", "mine.py:13"), finding("DPA004")], causes=[1], complete=True)


def test_a_waiver_runs_for_half_a_year_at_most() -> None:
    lasting = [waiver("DPA009", expires=TODAY + timedelta(days=days)) for days in (180, 181)]
    (noted,) = stale(lasting, [], [HERE, HERE], TODAY)
    assert noted.rule == "DPA008"
    assert "at most 180 days" in noted.message
    assert stale(lasting, [], [HERE, HERE], TODAY, longest=181) == []


def test_a_refuted_claim_is_waived_by_its_own_rule_only() -> None:
    assert code(REFUTED, waiver("DPA004")) == 0
    assert code(REFUTED, waiver("DPA003", "mine.py")) == 1
    assert code(REFUTED) == 1


def test_a_waiver_holds_on_its_last_day_and_not_after_it() -> None:
    assert code(REFUTED, waiver("DPA004", expires=date(2027, 1, 31))) == 0
    assert code(REFUTED, waiver("DPA004", expires=date(2027, 1, 30))) == 1


def test_every_finding_that_a_budget_fails_by_needs_a_waiver() -> None:
    found = BudgetFacts("unproven", "r", findings=[finding("DPA002", "a"), finding("DPA005", "b")], causes=[0, 1], complete=True)
    assert code(found, waiver("DPA002", "a")) == 3
    assert code(found, waiver("DPA002", "a"), waiver("DPA005", "b")) == 0


def test_what_no_finding_explains_is_never_waived() -> None:
    incomplete = BudgetFacts("unproven", "black box", findings=[finding("DPA006")], causes=[0], complete=False)
    assert code(incomplete, waiver("DPA006")) == 3
    assert code(BudgetFacts("unproven", "sensitivity only tested", complete=True), waiver("DPA004")) == 3
    assert code(not_checked("gone"), waiver("DPA004")) == 2


def test_a_fingerprint_ignores_lines_and_figures_and_nothing_else() -> None:
    base = fingerprint("DPA003", SERVICE, "mine.py:13", "release 'sum' declares 1, one record moves it by 2", "channel.release(")
    assert base == fingerprint("DPA003", SERVICE, "mine.py:99", "release 'sum' declares 1, moves it by 3", "channel.release(")
    other = GateBudget("other", Claim("1"), subject="mine.py:thin")
    elsewhere = GateBudget("service", Claim("1"), subject="mine.py:fat")
    different = {
        fingerprint("DPA002", SERVICE, "mine.py:13", "release 'sum'", "channel.release("),
        fingerprint("DPA003", other, "mine.py:13", "release 'sum'", "channel.release("),
        fingerprint("DPA003", elsewhere, "mine.py:13", "release 'sum'", "channel.release("),
        fingerprint("DPA003", SERVICE, "yours.py:13", "release 'sum'", "channel.release("),
        fingerprint("DPA003", SERVICE, "mine.py:13", "release 'mean'", "channel.release("),
        fingerprint("DPA003", SERVICE, "mine.py:13", "release 'sum'", "channel.release(2"),
    }
    assert len(different | {base}) == 7


def test_expired_and_unused_waivers_are_findings() -> None:
    used, ended = waiver("DPA004"), waiver("DPA003", "mine.py", date(2026, 1, 1))
    unused = Waiver("DPA001", "0" * 16, "r", "bob", TODAY)
    noted = note(REFUTED, SERVICE, HERE, [used, ended, unused], TODAY)
    judged = Judged("service", "mine.py:thin", Claim("1"), "certified", "refuted", 0, "r", HERE, findings=noted)
    found = stale([used, ended, unused], [judged], [HERE] * 3, TODAY)
    assert [(each.rule, each.fingerprint) for each in found] == [("DPA008", ended.fingerprint), ("DPA008", unused.fingerprint)]
    assert "expired on 2026-01-01" in found[0].message
    assert "not used" in found[1].message


def test_while_a_budget_is_not_checked_nobody_knows_what_is_unused() -> None:
    gone = Judged("service", "mine.py:thin", Claim("1"), "certified", "not checked", 2, "r", HERE)
    assert stale([waiver("DPA004")], [gone], [HERE], TODAY) == []
    assert len(stale([waiver("DPA004", expires=date(2026, 1, 1))], [gone], [HERE], TODAY)) == 1


@pytest.fixture
def thin(folder: Path, gate: Gate, budget: Callable[..., str]) -> tuple[str, str]:
    """A configuration that fails by one finding, and that finding's fingerprint."""
    configuration = budget("thin", subject="mine.py:thin")
    exit_code, document = gate(configuration)
    assert exit_code == 1
    (found,) = [each for each in document["budgets"][0]["findings"] if each["fails"]]
    assert found["rule"] == "DPA004"
    return configuration, found["fingerprint"]


def test_a_waived_budget_holds_and_says_who_decided(
    thin: tuple[str, str], folder: Path, gate: Gate, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration, mark = thin
    source = (folder / "mine.py").read_text(encoding="utf-8")
    (folder / "mine.py").write_text("# another line\n" * 7 + source, encoding="utf-8")
    exit_code, document = gate(configuration + written(mark))
    assert exit_code == 0
    (entry,) = document["budgets"]
    assert (entry["verdict"], entry["state"]) == ("refuted", "waived")
    assert entry["findings"][0]["waived"]["owner"] == "ann"
    assert main(["check"]) == 0
    text = capsys.readouterr().out
    assert "REFUTED  (waived)" in text
    assert f"waived until {NEXT_MONTH} by ann: pilot only" in text


def test_an_expired_waiver_fails_twice(thin: tuple[str, str], gate: Gate) -> None:
    configuration, mark = thin
    exit_code, document = gate(configuration + written(mark, expires="2020-01-01"))
    assert exit_code == 1
    assert document["budgets"][0]["state"] == "fails"
    assert document["findings"][0]["rule"] == "DPA008"
    assert document["findings"][0]["file"] == "pyproject.toml"
    assert document["findings"][0]["line"] == configuration.count("\n") + 1


def test_a_waiver_that_nothing_needs_fails_an_honest_gate(gate: Gate, budget: Callable[..., str]) -> None:
    exit_code, document = gate(budget("honest", subject="mine.py:honest") + written("0" * 16))
    assert exit_code == 1
    assert document["budgets"][0]["state"] == "holds"


def test_a_leak_cannot_be_waived(gate: Gate, budget: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    """Only the first leak on a path is seen: whoever accepts it would accept the next one unseen."""
    configuration = budget("leaks", subject="mine.py:leaks")
    exit_code, document = gate(configuration)
    assert exit_code in (1, 3)
    (mark,) = [each["fingerprint"] for each in document["budgets"][0]["findings"] if each["rule"] == "DPA002"]
    assert gate(configuration + written(mark, "DPA002"))[0] == 2


OTHERS = """
import dpaudit as dp
import helper

people = dp.replace_one(n=20, low=-1, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def understated(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale="SCALE"), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=people)
def elsewhere(ratings, channel):
    return helper.released(ratings, channel)
"""
HELPER = """
def released(ratings, channel):
    import dpaudit as dp
    noise = dp.Laplace(scale=2)
    return channel.release("sum", ratings.sum(), noise, sensitivity=1)
"""


def test_every_finding_of_a_refuted_subject_needs_a_waiver_of_its_own(
    folder: Path, gate: Gate, budget: Callable[..., str]
) -> None:
    (folder / "helper.py").write_text(HELPER, encoding="utf-8")
    (folder / "others.py").write_text(OTHERS.replace("SCALE", "1"), encoding="utf-8")
    configuration = budget("understated", subject="others.py:understated")
    found = gate(configuration)[1]["budgets"][0]["findings"]
    marks = {each["rule"]: written(each["fingerprint"], each["rule"]) for each in found}
    assert set(marks) == {"DPA003", "DPA004"}
    assert [gate(configuration + marks[rule])[0] for rule in marks] == [1, 1]
    assert gate(configuration + "".join(marks.values()))[0] == 0
    (folder / "others.py").write_text(OTHERS.replace("SCALE", "0.001"), encoding="utf-8")  # a thousand times the accepted loss
    assert gate(configuration + "".join(marks.values()))[0] == 1


def test_a_finding_in_another_file_is_told_apart_by_its_own_line(folder: Path, gate: Gate, budget: Callable[..., str]) -> None:
    (folder / "others.py").write_text(OTHERS.replace("SCALE", "1"), encoding="utf-8")
    configuration, marks = budget("elsewhere", subject="others.py:elsewhere"), []
    for source in (HELPER, "\n" + HELPER, HELPER.replace("sum(), noise", "sum() * 1.0, noise")):
        (folder / "helper.py").write_text(source, encoding="utf-8")
        (finding,) = [each for each in gate(configuration)[1]["budgets"][0]["findings"] if each["rule"] == "DPA003"]
        marks.append(finding["fingerprint"])
        assert finding["file"].endswith("helper.py")
    assert marks[0] == marks[1] != marks[2]
