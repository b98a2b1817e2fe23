"""A ledger begins with its head, and is not begun anew where one was lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.ledger import TamperedLedger, open_ledger, verify
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.sqlite.creation import create
from dpaudit.ledger.store.sqlite.head_file import head_path, make_head_file


def test_a_lost_ledger_is_not_begun_anew_until_its_head_is_removed_too(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    open_ledger(path).close()
    path.unlink()
    with pytest.raises(TamperedLedger, match=r"DPA007.*1 entries were acknowledged here, and the ledger is gone"):
        open_ledger(path)
    assert not path.exists()
    head_path(path).unlink()
    open_ledger(path).close()
    assert verify(path).size == 1


def test_a_head_that_a_killed_process_left_without_a_ledger_is_used(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    make_head_file(head_path(path))
    open_ledger(path).close()
    assert verify(path).size == 1


def test_an_existing_ledger_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    create(path, [first_entry("deployment")])
    before = verify(path).ledger
    create(path, [first_entry("deployment")])
    assert verify(path).ledger == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.ledger", "a.ledger.head"]
