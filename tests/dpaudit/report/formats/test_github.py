"""The gate in a GitHub Actions log: nothing in a message is taken for a command."""

from __future__ import annotations

import re

from dpaudit.gate.results import Checked, SourcePlace
from dpaudit.report.content.check import check_report
from dpaudit.report.formats.github import annotation, list_annotations, write


def test_a_github_annotation_is_one_line_and_escapes_as_the_runner_reads(gates: dict[str, Checked]) -> None:
    line = annotation("error", SourcePlace("a,b:c%.py", 3), "title: 50 %, more", "first\r\nsecond 50 %")
    assert line == "::error file=a%2Cb%3Ac%25.py,line=3,title=title%3A 50 %25%2C more::first%0D%0Asecond 50 %25"
    levels = [re.match(r"::(\w+) ", each) for each in list_annotations(gates["everything"])]
    assert [level and level[1] for level in levels] == ["error", "notice", "error", "warning", "error", "error"]
    assert all("\n" not in each and "\r" not in each for each in list_annotations(gates["everything"]))


def test_text_in_a_github_log_is_never_taken_for_a_command(gates: dict[str, Checked]) -> None:
    lines = write(check_report(gates["everything"])).splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    end = lines.index(f"::{token}::")
    assert any("::error::owned" in line for line in lines[1:end])  # it stands there, where commands are stopped
    assert not any(line.lstrip().startswith("::error::") for line in lines[end + 1 :])
