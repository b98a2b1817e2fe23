"""The committed baseline: what changed since, and nothing silently gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpaudit.claims import Claim, DpauditError
from dpaudit.gate.baseline import baseline_of, change, read_baseline
from dpaudit.gate.results import Judged, SourcePlace

Gate = Callable[..., Any]
TOP = '[tool.dpaudit]\nbaseline = "dpaudit-baseline.json"\n'
SERVICE = Judged(
    "service", "mine.py:f", Claim("1"), "certified", "certified", 0, "why", SourcePlace("mine.py", 1), Fraction("0.95"),
    stated={"neighbours": "replace_one"},
)  # fmt: skip


def before(**entries: Any) -> dict[str, Any]:
    old = {"budget": {"epsilon": "1", "delta": "0"}, "epsilon": "0.8", "verdict": "certified", "observer": "server"}
    return {**old, "require": "certified", "neighbours": "replace_one", **entries}


@pytest.mark.parametrize(
    ("old", "told"),
    [
        (before(), "ε 0.8 → 0.95, budget 1"),
        (before(epsilon="0.95"), "ε 0.95 as before, budget 1"),
        (before(epsilon=None, verdict="unproven"), "ε none → 0.95, budget 1, verdict unproven → certified"),
        (before(epsilon="0.95", budget={"epsilon": "1/2", "delta": "0"}), "ε 0.95 as before, budget ε 1/2, δ 0 → ε 1, δ 0"),
        (before(epsilon="0.95", observer="actions"), "ε 0.95 as before, budget 1, observer actions → server"),
        (before(epsilon="0.95", require="not-refuted"), "ε 0.95 as before, budget 1, require not-refuted → certified"),
        (None, "new, ε 0.95, budget 1"),
    ],
)
def test_the_difference_is_told_in_one_line(old: dict[str, Any] | None, told: str) -> None:
    assert change(SERVICE, old) == told


def test_long_figures_are_rounded_up() -> None:
    third = replace(SERVICE, upper=Fraction(1, 3) + Fraction(1, 10**30))
    shown = change(third, before()).split("→ ")[1].split(",")[0]
    assert Fraction(shown) >= Fraction(1, 3)


def test_a_baseline_is_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    file.write_text(json.dumps(baseline_of([SERVICE])), encoding="utf-8")
    assert change(SERVICE, read_baseline(file)["service"]) == "ε 0.95 as before, budget 1"


def test_a_baseline_is_not_written_from_what_was_not_checked() -> None:
    with pytest.raises(DpauditError, match="service"):
        baseline_of([replace(SERVICE, code=2)])


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "dpaudit.baseline/1", "budgets": {"a": 3}}',
             '{"schema": "dpaudit.baseline/1", "budgets": {"a": {"verdict": "certified", "epsilon": "-1"}}}',
             '{"schema": "dpaudit.baseline/1", "budgets": {"a": {"verdict": "certified", "epsilon": 1}}}'],
)  # fmt: skip
def test_what_is_no_baseline_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DpauditError):
        read_baseline(file)


def test_written_compared_changed_and_removed(folder: Path, gate: Gate, budget: Callable[..., str]) -> None:
    both = TOP + budget("first", subject="mine.py:honest") + budget("second", subject="mine.py:thin", epsilon="2")
    assert gate(both)[0] == 2  # configured and missing
    assert gate(both, "--write-baseline")[0] == 0
    same = gate(both)[1]
    assert [entry["change"] for entry in same["budgets"]] == ["ε 1 as before, budget 1", "ε 2 as before, budget 2"]
    source = (folder / "mine.py").read_text(encoding="utf-8")
    (folder / "mine.py").write_text(source.replace("scale=2", "scale=4"), encoding="utf-8")
    code, document = gate(TOP + budget("first", subject="mine.py:honest", epsilon="1/2"))
    assert code == 0  # behind its door, a subject costs what it claims
    assert document["budgets"][0]["change"] == "ε 1 → 0.5, budget ε 1, δ 0 → ε 0.5, δ 0"
    assert document["removed"] == ["second"]


def test_write_baseline_needs_its_name(gate: Gate, budget: Callable[..., str]) -> None:
    assert gate(budget("first", subject="mine.py:honest"), "--write-baseline")[0] == 2
