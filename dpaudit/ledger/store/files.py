"""Ledgers in files: SQLite, which is written and read, or an export, which is read. The file says what it is."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from dpaudit.ledger.errors import UnreadableLedger
from dpaudit.ledger.export import OPENING, ExportEntries
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.sqlite import MAGIC, SqliteEntries, create, is_open_here


def open_entries(place: str, first: Callable[[], bytes] | None) -> EntryStore:
    """The entries of a ledger file, made if it is not there; for reading, of an export too."""
    path = Path(place)
    if first is None:
        return ExportEntries(path) if _starts_with(path, OPENING) else SqliteEntries(_ledger_file(path), readonly=True)
    if not path.exists():
        create(path, [first()])
    return SqliteEntries(_ledger_file(path), readonly=False)


def is_ledger_file(path: Path) -> bool:
    """Is this file a ledger or the export of one, by how it begins?"""
    return _starts_with(path, MAGIC) or _starts_with(path, OPENING)


def _ledger_file(path: Path) -> Path:
    if not _starts_with(path, MAGIC):
        raise UnreadableLedger(str(path), "the file is not a dpaudit ledger")
    return path


def _starts_with(path: Path, opening: bytes) -> bool:
    try:
        if path.is_dir() and (latest := max(path.glob("*.ledger"), default=None)):
            raise UnreadableLedger(str(path), f"a folder of ledgers, one for each period; name one, such as {latest}")
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe could wait for ever, a device has no end
            raise UnreadableLedger(str(path), "not a regular file")
        if is_open_here(path):
            return opening == MAGIC
        with open(path, "rb") as file:
            return file.read(len(opening)) == opening
    except OSError as error:
        raise UnreadableLedger(str(path), f"the file cannot be read: {error.strerror}") from None
