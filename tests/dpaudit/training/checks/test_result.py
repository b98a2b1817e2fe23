"""Results of checks: written, read back, and refused where they are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.training.checks.result import LEVEL, CheckResult, UnreadableChecks, checks_to_json, read_checks

RESULTS = [
    CheckResult.by_chance("noise", "DPA005", LEVEL / 2, "less"),
    CheckResult.by_gap("clipping", "DPA003", 1.0, 2.0, "close"),
    CheckResult.not_run("mixing", "DPA003", "no batch"),
]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "checks.json").write_text(checks_to_json(RESULTS), encoding="utf-8")
    assert read_checks(tmp_path / "checks.json") == RESULTS


def test_only_what_failed_is_a_finding() -> None:
    assert [result.passed for result in RESULTS] == [False, True, None]
    found = [result.finding() for result in RESULTS]
    assert [finding is not None for finding in found] == [True, False, False]
    assert found[0] is not None
    assert found[0].rule == "DPA005"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "dpaudit.checks/1"}', '{"schema": "dpaudit.checks/1", "checks": [{"name": 1}]}',
             '{"schema": "dpaudit.checks/1", "checks": [{"name": "a", "rule": "b", "passed": true, "message": "c"}]}'],
)  # fmt: skip
def test_anything_else_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "checks.json").write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableChecks, match="TrainingWatch"):
        read_checks(tmp_path / "checks.json")
