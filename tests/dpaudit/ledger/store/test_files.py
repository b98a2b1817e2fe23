"""A file says what it is: a ledger, an export, or neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.ledger import UnreadableLedger, export_jsonl, open_ledger
from dpaudit.ledger.export import ExportEntries
from dpaudit.ledger.store.files import is_ledger_file, open_entries
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.sqlite import SqliteEntries


def test_a_ledger_is_written_and_an_export_only_read(tmp_path: Path) -> None:
    ledger, export = tmp_path / "a.ledger", tmp_path / "a.jsonl"
    with open_ledger(ledger) as opened:
        export_jsonl(opened, export)
    assert is_ledger_file(ledger)
    assert is_ledger_file(export)
    for path, kind in ((ledger, SqliteEntries), (export, ExportEntries)):
        entries = open_entries(str(path), None)
        assert type(entries) is kind
        assert entries.readonly
        entries.close()
    with pytest.raises(UnreadableLedger, match="not a dpaudit ledger"):
        open_entries(str(export), lambda: first_entry("deployment"))


def test_what_is_neither_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    assert not is_ledger_file(other)
    for first in (None, lambda: first_entry("deployment")):
        with pytest.raises(UnreadableLedger, match="not a dpaudit ledger"):
            open_entries(str(other), first)
    assert other.read_text() == "hello"
    with pytest.raises(UnreadableLedger, match="not a regular file"):
        open_entries(str(tmp_path), None)
    with pytest.raises(UnreadableLedger, match="cannot be read"):
        open_entries(str(tmp_path / "missing"), None)


def test_a_folder_of_periods_names_its_latest_ledger(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLedger, match="not a regular file"):
        is_ledger_file(tmp_path)
    for day in ("2026-01-02", "2026-01-01"):
        open_ledger(tmp_path / f"{day}.ledger").close()
    with pytest.raises(UnreadableLedger, match=r"one for each period; name one, such as .*2026-01-02\.ledger"):
        is_ledger_file(tmp_path)
