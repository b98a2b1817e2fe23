"""``account --fixed`` and ``--odometer``: which figure, by which method, and what is said about the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants import Part, compose
from dpaudit.claims import exact
from dpaudit.cli import main


@pytest.fixture
def releases(tmp_path: Path) -> str:
    path = tmp_path / "releases.jsonl"
    path.write_text('{"mechanism": "laplace", "scale": "10", "sensitivity": "1"}\n' * 300)
    return str(path)


def account(releases: str, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    assert main(["account", releases, "--delta", "1e-6", "--format", "json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_fixed_composes_numerically_and_without_it_the_reason_is_given(releases: str, capsys: Any) -> None:
    adaptive, fixed = account(releases, capsys), account(releases, capsys, "--fixed")
    assert exact(fixed["epsilon"]) == compose([Part(dp.Laplace(10), 2**20, 300)], "1e-6").upper
    assert exact(fixed["epsilon"]) < exact(adaptive["epsilon"]) < 30
    assert "numerical" in fixed["method"]
    assert not fixed["notes"]
    assert "adaptively" in adaptive["notes"][0]
    assert "--fixed" in adaptive["notes"][0]


def test_the_text_says_why_numerical_composition_was_refused(releases: str, capsys: Any) -> None:
    assert main(["account", releases, "--delta", "1e-6"]) == 0
    text = capsys.readouterr().out
    assert "numerical composition refused" in text
    assert all(len(line) <= 130 for line in text.splitlines())


def test_the_odometer_has_a_reading_after_every_release(releases: str, capsys: Any) -> None:
    document = account(releases, capsys, "--odometer")
    readings = document["odometer"]
    assert [r["releases"] for r in readings] == list(range(1, 301))
    assert readings[0]["epsilon"] == "0.1"
    assert exact(document["epsilon"]) < exact(readings[-1]["epsilon"]) < 30
    assert main(["account", releases, "--odometer"]) == 0
    rows = capsys.readouterr().out.partition("\nodometer:")[2].splitlines()
    assert [row.split()[0] for row in rows[3:]] == ["1", "2", "4", "8", "16", "32", "64", "128", "256", "300"]


def test_a_budget_is_held_against_the_figure_of_the_chosen_method(releases: str) -> None:
    assert main(["account", releases, "--delta", "1e-6", "--epsilon", "9.5"]) == 1
    assert main(["account", releases, "--delta", "1e-6", "--epsilon", "9.5", "--fixed"]) == 0
