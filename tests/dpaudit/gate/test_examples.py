"""The shipped workflow and hook call commands that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dpaudit.cli import build_parser, main

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("file", [".github/workflows/dpaudit.yml", ".pre-commit-hooks.yaml"])
def test_the_commands_of_the_examples_are_understood(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    commands = re.findall(r"(?:run|entry): (dpaudit check.*)", text)
    assert commands
    for command in commands:
        build_parser().parse_args(shlex.split(command)[1:])


def test_one_run_writes_several_formats(folder: Path, budget: object) -> None:
    assert callable(budget)
    (folder / "pyproject.toml").write_text(budget("service", subject="mine.py:honest"), encoding="utf-8")
    assert main(["check", "--also", "sarif=a.sarif", "--also", "junit=a.xml", "--also", "html=a.html"]) == 0
    assert (folder / "a.sarif").read_text(encoding="utf-8").startswith("{")
    assert (folder / "a.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert (folder / "a.html").read_text(encoding="utf-8").startswith("<!doctype html")


@pytest.mark.parametrize("given", ["sarif", "sarif=", "other=a", "sarif=missing/a", "sarif=."])
def test_what_could_not_be_written_is_refused_first(given: str, folder: Path) -> None:
    assert main(["check", "--also", given]) == 2


@pytest.mark.parametrize("name", ["pyproject.toml", "mine.py", "base.json", "a.ledger"])
def test_a_report_is_not_written_over_what_the_gate_reads(name: str, folder: Path, budget: object) -> None:
    assert callable(budget)
    top = '[tool.dpaudit]\nbaseline = "base.json"\n'
    configuration = top + budget("service", subject="mine.py:honest") + budget("records", ledger="a.ledger")
    (folder / "pyproject.toml").write_text(configuration, encoding="utf-8")
    assert main(["check", "--format", "json", "--output", name]) == 2
    assert main(["check", "--also", f"json={name}"]) == 2
    assert (folder / "pyproject.toml").read_text(encoding="utf-8") == configuration
    assert not (folder / "base.json").exists()
