"""A ledger that is swapped or cut on a branch is found; one that went on is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import dpaudit as dp
from dpaudit.gate.against.ledger_history import ledger_loosenings
from dpaudit.ledger import export_jsonl


def spend(path: Path, name: str) -> None:
    with dp.open_ledger(path) as ledger, dp.live(ledger, "9") as channel:
        channel.release(name, dp.seal([1.0], -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)


def found(base: Path, now: Path, name: str = "a.ledger") -> list[str]:
    return [one.message for one in ledger_loosenings("sum", base, now, name)]


def folders(tmp_path: Path) -> tuple[Path, Path]:
    base, now = tmp_path / "base", tmp_path / "now"
    base.mkdir()
    spend(base / "a.ledger", "first")
    shutil.copytree(base, now)
    return base, now


def test_one_that_went_on_or_is_new_is_not_found(tmp_path: Path) -> None:
    base, now = folders(tmp_path)
    assert found(base, now) == []
    spend(now / "a.ledger", "second")
    assert found(base, now) == []
    assert found(base, now, "other.ledger") == []
    assert found(base, now, "postgresql://host/name") == []


def test_one_that_was_swapped_cut_or_deleted_is_found(tmp_path: Path) -> None:
    base, now = folders(tmp_path)
    spend(base / "a.ledger", "second")
    (message,) = found(base, now)
    assert "gone or changed" in message, "cut"
    for file in now.iterdir():
        file.unlink()
    assert found(base, now) == ["what is in a.ledger: a ledger → gone"]
    spend(now / "a.ledger", "fresh")
    (message,) = found(base, now)
    assert "gone or changed" in message, "swapped"
    (now / "a.ledger").write_text('{"mechanism": "laplace", "scale": "9", "sensitivity": "1"}\n', encoding="utf-8")
    assert found(base, now) == ["what is in a.ledger: a ledger → releases written by hand"]


def test_an_export_and_releases_written_by_hand_are_compared_too(tmp_path: Path) -> None:
    base, now = folders(tmp_path)
    for folder in (base, now):
        with dp.open_ledger(folder / "a.ledger", readonly=True) as ledger:
            export_jsonl(ledger, folder / "a.jsonl")
        (folder / "hand.jsonl").write_text("one\ntwo\n", encoding="utf-8")
    assert found(base, now, "a.jsonl") == found(base, now, "hand.jsonl") == []
    (now / "hand.jsonl").write_text("three\ntwo\none\n", encoding="utf-8")
    assert found(base, now, "hand.jsonl") == []
    (now / "hand.jsonl").write_text("two\n\n", encoding="utf-8")
    assert found(base, now, "hand.jsonl") == ["what is in hand.jsonl: 2 entries → 1 of them gone or changed"]
