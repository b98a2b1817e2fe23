"""SQLite's errors, and the operating system's, as dpaudit's own."""

from __future__ import annotations

import sqlite3
from types import TracebackType

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger, UnreadableLedger

_NOT_NOW = {
    sqlite3.SQLITE_BUSY: "another process holds it; try again",
    sqlite3.SQLITE_LOCKED: "another process holds it; try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; open it with readonly=True",
    sqlite3.SQLITE_CANTOPEN: "its folder cannot be written; open it with readonly=True",
    sqlite3.SQLITE_IOERR: "the disk failed; nothing was granted",
    sqlite3.SQLITE_FULL: "the disk is full; nothing was granted",
}


class named_errors:
    """Around everything that touches the file ``where``."""

    __slots__ = ("_where",)

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            raise_named(error, self._where)


def raise_named(error: BaseException, where: str) -> None:
    """Raise dpaudit's own error for one of SQLite or the system; return for any other."""
    if isinstance(error, sqlite3.ProgrammingError):
        raise LedgerUnavailable(where, "the ledger is closed; open it again") from None
    if isinstance(error, OSError):
        raise LedgerUnavailable(where, f"the folder or file cannot be used: {error.strerror}") from None
    if isinstance(error, UnicodeDecodeError):  # Python, reading SQLite's own message about a damaged schema
        raise TamperedLedger(where, "the file is damaged") from None
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _NOT_NOW:
            raise LedgerUnavailable(where, _NOT_NOW[code]) from None
        if code == sqlite3.SQLITE_CORRUPT:
            raise TamperedLedger(where, "the file is damaged") from None
        raise UnreadableLedger(where, "the file is not a dpaudit ledger") from None
