"""A ledger that moves keeps its entries and its head, and only one of the two can be spent from."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpaudit.claims import BudgetExceeded, DpauditError
from dpaudit.cli import main
from dpaudit.ledger import (
    LedgerUnavailable,
    Release,
    TamperedLedger,
    canonical,
    checkpoint,
    export_jsonl,
    open_ledger,
    verify,
)
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.migration import move
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.memory import MemoryEntries


def a_release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.ledger"
    with open_ledger(path, budget="2") as ledger:
        ledger.append(a_release("one"), key="k")
    return path


def check_moved(old: Path, new: str, head: Any, mark: dict[str, Any]) -> None:
    assert verify(new, mark).root == head.root == mark["root"]
    with open_ledger(new) as ledger:
        assert ledger.append(a_release("one"), key="k").name == "one"  # idempotent across the move
        ledger.append(a_release("two"))
        with pytest.raises(BudgetExceeded):
            ledger.append(a_release("three"))
    with open_ledger(old) as ledger, pytest.raises(LedgerUnavailable, match=r"it was moved to .*; use that"):
        ledger.append(a_release("spent twice"))
    assert verify(old).releases == 1


def test_a_ledger_moves_to_a_file_with_its_head(old: Path, tmp_path: Path) -> None:
    with open_ledger(old, readonly=True) as ledger:
        mark = checkpoint(ledger, Ed25519PrivateKey.generate())
    check_moved(old, str(tmp_path / "new.ledger"), move(old, tmp_path / "new.ledger"), mark)


@pytest.mark.needs(module="psycopg_pool")
def test_a_ledger_moves_to_postgresql_and_every_command_takes_its_address(
    old: Path, tmp_path: Path, postgres: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_ledger(old, readonly=True) as ledger:
        mark = checkpoint(ledger, Ed25519PrivateKey.generate())
    new = f"{postgres.address}?ledger=moved"
    assert main(["migrate", str(old), new, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["size"], told["root"]) == ("dpaudit.migrate/1", 3, mark["root"])
    with open_ledger(new, readonly=True) as ledger:
        check_moved(old, new, ledger.head(), mark)
    assert main(["migrate", str(old), new]) == 2  # it exists
    assert main(["keygen", "-o", "key"]) == 0
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.dpaudit.budgets.fleet]\nledger = "{new}"\nepsilon = "2"\ndelta = "0"\nrequire = "not-refuted"\n'
    )
    for command in (["verify", new], ["account", new, "--format", "json"], ["checkpoint", new, "--key", "key"],
                    ["export", new, "--output", "out.jsonl"], ["check"]):  # fmt: skip
        capsys.readouterr()
        assert main(command) == 0, (command, capsys.readouterr())
    run = ["run", "central", "--epsilon", "1", "--horizon", "100", "--ledger", f"{postgres.address}?ledger=run"]
    assert main(run) == 0
    assert main(["account", f"{postgres.address}?ledger=run"]) == 0
    capsys.readouterr()
    assert main(["account", f"{postgres.address}?ledger=run&password=sesame", "--epsilon", "1/1000"]) == 1
    assert "sesame" not in capsys.readouterr().out


def test_a_move_that_was_interrupted_is_finished_by_asking_again_and_only_to_the_same_place(old: Path, tmp_path: Path) -> None:
    new, other = tmp_path / "new.ledger", tmp_path / "other.ledger"
    with open_ledger(old) as ledger:
        ledger.close_for_move(str(new))  # and here the machine stopped
    with pytest.raises(LedgerUnavailable, match=r"moved to .*new.ledger already"):
        move(old, other)
    assert move(old, new).size == 3
    with pytest.raises(LedgerUnavailable, match="the file exists"):
        move(old, new)
    assert not other.exists()


def test_an_export_is_copied_and_what_cannot_be_moved_to_is_refused(old: Path, tmp_path: Path) -> None:
    with open_ledger(old, readonly=True) as ledger:
        head = export_jsonl(ledger, tmp_path / "old.jsonl")
    assert move(tmp_path / "old.jsonl", tmp_path / "new.ledger") == head
    with pytest.raises(DpauditError, match="not to memory://"):
        move(old, "memory://")


def test_nothing_follows_the_entry_that_closes_a_ledger() -> None:
    moved = canonical({"entry": "moved", "to": "elsewhere"})
    release = canonical({"entry": "release", "release": a_release("x").to_json()})
    assert replay(MemoryEntries([first_entry("simulated"), release, moved]), PureSums)[0].moved == "elsewhere"
    for after in (release, moved):
        with pytest.raises(TamperedLedger):
            replay(MemoryEntries([first_entry("simulated"), release, moved, after]), PureSums)
    for wrong in ({"entry": "moved"}, {"entry": "moved", "to": ""}, {"entry": "moved", "to": "x", "more": 1}):
        with pytest.raises(TamperedLedger):
            replay(MemoryEntries([first_entry("simulated"), canonical(wrong)]), PureSums)
