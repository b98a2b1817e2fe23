"""The gate in every format: nothing that a subject can name breaks out of its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Claim
from dpaudit.cli import main
from dpaudit.gate.results import Checked, Judged, Noted, Place, Waiver
from dpaudit.report.check_github import annotated, annotation, check_github
from dpaudit.report.check_html import check_html
from dpaudit.report.check_junit import check_junit
from dpaudit.report.check_markdown import check_markdown
from dpaudit.report.check_sarif import check_sarif
from dpaudit.report.check_text import check_text

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))  # OASIS, as published
NASTY = "release '<script>alert(1)</script>' | 50 %,\r\n::error::owned\n##[error]owned \x00\x1b[31m ![x](http://x.example) @all `"
HERE = Place("service/a b:c.py", 13)
WAIVER = Waiver("DPA004", "b" * 16, f"reason {NASTY}", "ann <ann@example.org>", date(2027, 1, 31))
FINDING = Noted("DPA004", NASTY, NASTY, "a" * 16, HERE, fails=True)
HOLDS = Judged(
    "holds", "a.py:f", Claim("1"), "certified", "certified", 0, "proven", HERE, Fraction(1), {"epsilon": 0.9, "samples": 10,
    "method": "exact replay", "confidence": 1.0}, 1.0, change="ε 0.8 → 1, budget 1", seconds=0.5, timeout=600,
)  # fmt: skip
FAILS = replace(HOLDS, name="fails", verdict="refuted", code=1, reason=NASTY, target=NASTY, findings=(FINDING,), change=NASTY)
WAIVED = replace(FAILS, name="waived", code=0, findings=(replace(FINDING, waiver=WAIVER),))
UNPROVEN = replace(HOLDS, name="unproven", verdict="unproven", code=3, reason=NASTY, upper=None)
NOTED = replace(HOLDS, name="noted", findings=(replace(FINDING, rule="DPA006", fails=False),), change=None)
GONE = replace(HOLDS, name="gone", verdict="not checked", code=2, reason=NASTY, upper=None, lower=None, detectable=None)
STALE = Noted("DPA008", NASTY, "pyproject.toml:3", "c" * 16, Place("pyproject.toml", 3), fails=True)
EVERYTHING = Checked(
    "pyproject.toml", (HOLDS, FAILS, WAIVED, UNPROVEN, NOTED, GONE), (STALE,), ("old <b>budget</b>",), seed=1, seconds=2.0
)
CLEAN = Checked("pyproject.toml", (HOLDS,), seed=1)
NOTHING = Checked("")


@pytest.mark.parametrize("checked", [EVERYTHING, CLEAN, NOTHING], ids=["everything", "clean", "nothing"])
def test_sarif_is_valid_by_the_standards_own_schema(checked: Checked) -> None:
    jsonschema.validate(check_sarif(checked), SCHEMA, cls=jsonschema.Draft7Validator)


def test_the_schema_refuses_what_is_wrong() -> None:
    wrong = check_sarif(EVERYTHING)
    wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA, cls=jsonschema.Draft7Validator)


def test_sarif_has_a_result_for_all_that_fails_and_suppresses_what_is_waived() -> None:
    (run,) = check_sarif(EVERYTHING)["runs"]
    results = run["results"]
    told = [(result["ruleId"], result["level"], bool(result.get("suppressions"))) for result in results]
    assert told == [
        ("DPA004", "error", False),
        ("DPA004", "error", True),
        ("unproven", "error", False),
        ("DPA006", "note", False),
        ("not-checked", "error", False),
        ("DPA008", "error", False),
    ]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in results)
    assert all("What to do" in rule["help"]["markdown"] for rule in rules)
    assert results[0]["partialFingerprints"] == {"dpaudit/v1": "a" * 16}
    where = results[0]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "service/a%20b%3Ac.py", "uriBaseId": "%SRCROOT%"}
    assert where["region"] == {"startLine": 13}
    assert run["invocations"][0]["executionSuccessful"] is False
    assert check_sarif(CLEAN)["runs"][0]["results"] == []


def test_junit_is_xml_with_a_case_per_budget_whatever_the_messages_hold() -> None:
    root = ElementTree.fromstring(check_junit(EVERYTHING))
    (suite,) = root
    cases = {case.get("name"): {child.tag for child in case} - {"properties"} for case in suite.iter("testcase")}
    assert cases == {
        "holds": set(),
        "fails": {"failure"},
        "waived": {"system-out"},
        "unproven": {"failure"},
        "noted": {"system-out"},
        "gone": {"error"},
        "c" * 16: {"failure"},
    }
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["7", "3", "1"]
    failure = next(suite.iter("failure"))
    assert "<script>" in failure.get("message", "")
    assert "\x00" not in check_junit(EVERYTHING)


def test_a_github_annotation_is_one_line_and_escapes_as_the_runner_reads() -> None:
    line = annotation("error", Place("a,b:c%.py", 3), "title: 50 %, more", "first\r\nsecond 50 %")
    assert line == "::error file=a%2Cb%3Ac%25.py,line=3,title=title%3A 50 %25%2C more::first%0D%0Asecond 50 %25"
    levels = [re.match(r"::(\w+) ", each) for each in annotated(EVERYTHING)]
    assert [level and level[1] for level in levels] == ["error", "notice", "error", "warning", "error", "error"]
    assert all("\n" not in each and "\r" not in each for each in annotated(EVERYTHING))


def test_text_in_a_github_log_is_never_taken_for_a_command() -> None:
    lines = check_github(EVERYTHING).splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    end = lines.index(f"::{token}::")
    assert any("::error::owned" in line for line in lines[1:end])  # it stands there, where commands are stopped
    assert not any(line.lstrip().startswith("::error::") for line in lines[end + 1 :])


def test_markdown_keeps_names_as_text() -> None:
    text = check_markdown(EVERYTHING)
    names = re.sub(r"What to do: .*|```[^`]*```", "", text)  # remedies and drawings are dpaudit's own
    for read_as_more in (r"(?<!\\)<script", r"(?<!\\)\]\(", r"(?<!\\)!\[", "@all", r"(?<!\\)`", "\x00"):
        assert re.search(read_as_more, names) is None
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(re.sub(r"\\\|", "", row).count("|") in (10, 6, 3) for row in rows)
    assert "ε 0.8 → 1, budget 1" in text
    assert "waived until 2027-01-31 by ann" in text


def test_text_says_what_failed_why_and_what_to_do() -> None:
    text = check_text(EVERYTHING)
    assert "6 budgets: 2 hold, 2 fail, 1 waived, 1 not checked, 1 waiver expired or unused" in text
    assert "in the baseline, no longer configured: old <b>budget</b>" in text
    assert "waived until 2027-01-31" in text
    assert "[aaaaaaaaaaaaaaaa]" in text
    assert "change   ε 0.8 → 1, budget 1" in text
    assert "\x00" not in text
    assert "\x1b" not in text
    assert check_text(CLEAN).splitlines()[-1].startswith("1 budget: 1 holds")
    assert "nothing to check" in check_text(NOTHING)


@pytest.mark.parametrize("width", [375, 1200])
def test_the_page_shows_the_gate_first_and_runs_nothing(width: int, open_page: Callable[..., Any]) -> None:
    page = open_page(check_html(EVERYTHING), width)
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("document.querySelector('h1').textContent") == "Not everything could be checked"
    assert page.evaluate("document.querySelectorAll('section').length") == 6
    assert page.evaluate("document.querySelectorAll('script, img').length") == 0
    assert page.evaluate("document.querySelectorAll('svg').length") == 5
    assert page.evaluate("document.getElementById('budget-fails').textContent.includes('DPA004')")
    assert "nothing to check" in check_html(NOTHING)


@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_of_a_real_check_draws_losses_timeline_and_clients(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: Callable[..., Any]
) -> None:
    subject = '@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=9, low=-1, high=1))\ndef sums(data, channel):\n'
    release = '    return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)\n'
    (tmp_path / "mine.py").write_text(f"import dpaudit as dp\n{subject}{release}", encoding="utf-8")
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, ("1", 0), proven=True) as channel:
        for part in range(3):
            sealed = dp.seal(np.zeros(9), low=-1, high=1)
            channel.release(f"part {part}", sealed[part::3].sum(), dp.Laplace(scale=2), sensitivity=2)
    budgets = [("code", 'subject = "mine.py:sums"'), ("deployment", 'ledger = "a.ledger"')]
    entries = [f'[tool.dpaudit.budgets.{name}]\n{target}\nepsilon = "1"\ndelta = "0"\n' for name, target in budgets]
    (tmp_path / "pyproject.toml").write_text("\n".join(entries), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--format", "html", "--output", "check.html"]) == 0
    page = open_page((tmp_path / "check.html").read_text(encoding="utf-8"), width)
    page.whole()
    captions = page.evaluate("[...document.querySelectorAll('figcaption')].map(c => c.textContent)")
    assert sum("Privacy loss" in told for told in captions) == 1
    assert sum("paid most so far" in told for told in captions) == 1
    assert "Who pays most" in page.evaluate("document.body.textContent")
    assert main(["check", "--output", "check.txt"]) == 0  # without a page nothing is drawn
