"""What ``account`` prints: every observer, a client by name, and few lines for many releases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpaudit.cli import main
from dpaudit.report.content.account import MOST_ROWS


def printed(path: Path, rows: list[dict[str, object]], capsys: pytest.CaptureFixture[str], *options: str) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["account", str(path), *options]) == 0
    return capsys.readouterr().out


def row(k: int, scale: int, cohort: object = None) -> dict[str, object]:
    return {"name": f"count {k}", "mechanism": "laplace", "scale": str(scale), "sensitivity": "1", "cohort": cohort}


def test_many_equal_releases_are_one_line_and_json_lists_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(k, 10 + k % 3, [[k, k + 1]]) for k in range(3000)]
    text = printed(tmp_path / "r.jsonl", rows, capsys)
    assert len(text.splitlines()) < 20
    assert "count 0 … count 2997 (1000)" in text
    document = json.loads(printed(tmp_path / "r.jsonl", rows, capsys, "--format", "json"))
    assert len(document["releases"]) == 3000


def test_many_different_releases_show_the_costliest_and_count_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(k, 1000 - k) for k in range(100)]
    text = printed(tmp_path / "r.jsonl", rows, capsys)
    assert f"and {100 - MOST_ROWS} cheaper releases" in text
    assert "count 99 " in text
    assert "count 0 " not in text.partition("release ")[2]


def test_few_releases_are_all_shown_even_if_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(tmp_path / "r.jsonl", [row(k, 10) for k in range(5)], capsys)
    assert all(f"count {k} " in text for k in range(5))


def test_the_worst_client_is_named_with_its_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(0, 2, [[0, 10]]), row(1, 4, [[5, 20]]), row(2, 8, {"ids": ["ada"]})]
    text = printed(tmp_path / "r.jsonl", rows, capsys)
    assert "client 5 (5 to 9 pay the same): 2 releases (count 0, count 1), ε ≤ 0.75" in text
    for observer in ("server", "actions"):
        assert f"  {observer}" in text
    assert "everybody alike" in printed(tmp_path / "s.jsonl", [row(0, 2)], capsys)
    assert "client ada" in printed(tmp_path / "t.jsonl", [row(0, 2, {"ids": ["ada"]})], capsys)
