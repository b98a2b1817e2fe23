"""``dpaudit export``: the whole ledger as JSON Lines, its releases as Parquet."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.cli import main


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "today.ledger"
    with dp.open_ledger(path) as opened, dp.live(opened) as channel:
        channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)
        channel.release("count", 3.0, dp.Laplace(scale=1), sensitivity=1)
    return path


def test_the_json_lines_verify_and_account_as_the_ledger_does(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = ledger.with_suffix(".jsonl")
    assert main(["export", str(ledger), "--output", str(copy), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "dpaudit.export/1"
    with dp.open_ledger(ledger) as opened:
        assert (document["size"], document["root"]) == (opened.head().size, opened.head().root)
    assert main(["verify", str(copy)]) == 0
    assert dp.account(copy).epsilon == dp.account(ledger).epsilon == 2


def test_a_changed_export_is_reported(ledger: Path) -> None:
    copy = ledger.with_suffix(".jsonl")
    assert main(["export", str(ledger), "--output", str(copy)]) == 0
    copy.write_bytes(copy.read_bytes().replace(b'"count"', b'"Count"'))
    assert main(["verify", str(copy)]) == 1


def test_parquet_has_one_row_per_release(ledger: Path) -> None:
    parquet = importlib.import_module("pyarrow.parquet")  # of the extra "reports"
    copy = ledger.with_suffix(".parquet")
    assert main(["export", str(ledger), "--output", str(copy)]) == 0
    assert parquet.read_table(copy).column("name").to_pylist() == ["sum", "count"]


@pytest.mark.parametrize("name", ["today.ledger", "out.txt", "out"])
def test_other_files_are_refused_and_nothing_is_left(name: str, ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = ledger.read_bytes()
    assert main(["export", str(ledger), "--output", str(ledger.with_name(name))]) == 2
    assert "dpaudit: " in capsys.readouterr().err
    assert sorted(path.name for path in ledger.parent.iterdir()) == ["today.ledger", "today.ledger.head"]
    assert ledger.read_bytes() == before


def test_without_a_file_or_a_ledger_it_says_so(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(ledger)]) == 2
    assert "--output" in capsys.readouterr().err
    plain = ledger.with_name("plain.jsonl")
    plain.write_text('{"name": "a", "mechanism": "laplace", "scale": "2", "sensitivity": "1"}\n')
    assert main(["export", str(plain), "--output", str(ledger.with_name("b.jsonl"))]) == 2
    assert "not a ledger" in capsys.readouterr().err
    assert not ledger.with_name("b.jsonl").exists()
