"""SQLite's errors, and the operating system's, as dpaudit's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger, UnreadableLedger

_NOT_NOW = {
    sqlite3.SQLITE_BUSY: "another process holds it; try again",
    sqlite3.SQLITE_LOCKED: "another process holds it; try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; open it with readonly=True",
    sqlite3.SQLITE_CANTOPEN: "its folder cannot be written; open it with readonly=True",
    sqlite3.SQLITE_IOERR: "the disk failed; nothing was granted",
    sqlite3.SQLITE_FULL: "the disk is full; nothing was granted",
}


@contextmanager
def named_errors(where: str) -> Iterator[None]:
    """Around everything that touches the file ``where``."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise LedgerUnavailable(where, "the ledger is closed; open it again") from None
    except OSError as error:
        raise LedgerUnavailable(where, f"the folder or file cannot be used: {error.strerror}") from None
    except UnicodeDecodeError:  # Python, reading SQLite's own message about a damaged schema
        raise TamperedLedger(where, "the file is damaged") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _NOT_NOW:
            raise LedgerUnavailable(where, _NOT_NOW[code]) from None
        if code == sqlite3.SQLITE_CORRUPT:
            raise TamperedLedger(where, "the file is damaged") from None
        raise UnreadableLedger(where, "the file is not a dpaudit ledger") from None
