"""Connections to ledger files, and what is checked of a file before any entry is read."""

from __future__ import annotations

import glob
import shutil
import sqlite3
import tempfile
import urllib.parse
from contextlib import suppress
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable, UnreadableLedger
from dpaudit.ledger.store.sqlite.creation import APPLICATION, LAYOUT, SCHEMA

BUSY_SECONDS = 60.0  # for SQLite's own lock

Copy = tempfile.TemporaryDirectory[str]


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """``mode``: a parameter of SQLite's addresses, such as "mode=rw"."""
    address = f"file:{urllib.parse.quote(str(path.absolute()))}?{mode}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    connection.text_factory = bytes
    return connection


def connect_for_reading(path: Path) -> tuple[sqlite3.Connection, Copy | None]:
    """Share the write-ahead log with writers; where that cannot be, read the file as it stands, or a copy of both."""
    connection = connect(path, "mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection, None
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    log = log_path(path)
    if not log.exists() or not log.stat().st_size:
        return connect(path, "immutable=1"), None
    # Entries of a writer that was killed are in the log only: read both files, elsewhere.
    copy = tempfile.TemporaryDirectory(prefix="dpaudit-")
    for source in (path, log):
        shutil.copyfile(source, Path(copy.name) / source.name)
    return connect(Path(copy.name) / path.name, "mode=rw"), copy


def checked_layout(connection: sqlite3.Connection, where: str) -> int:
    """The layout of a ledger file. Raises UnreadableLedger for any other file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise UnreadableLedger(where, "the file is not a dpaudit ledger")
    if layout not in (1, LAYOUT):
        raise UnreadableLedger(where, f"ledger format {layout} is not known to this dpaudit; upgrade it")
    # Nothing but our two tables: no trigger or view of somebody else's runs here.
    tables = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    if tuple(statement for (statement,) in tables) != tuple(text.encode() for text in SCHEMA):
        raise UnreadableLedger(where, "the tables are not those of a dpaudit ledger")
    return int(layout)


def refuse_second_name(path: Path) -> None:
    """A file with two names would have two write-ahead logs, and entries in one of them are missed through the other.

    A draft of ``create`` that was killed before it was removed is such a name; it is removed here.
    """
    path = path.resolve()
    if path.stat().st_nlink > 1:
        for draft in path.parent.glob(glob.escape(path.name) + ".*.new"):
            with suppress(FileNotFoundError):
                if draft.samefile(path):
                    draft.unlink()
    if path.stat().st_nlink > 1:
        raise LedgerUnavailable(str(path), "the file has a second name (a hard link); remove one of them")


def log_path(path: Path) -> Path:
    path = path.resolve()
    return path.with_name(path.name + "-wal")


def tidy(path: Path) -> None:
    """A reader leaves an empty log behind; a writer that closes last removes it."""
    with suppress(sqlite3.Error, UnicodeDecodeError):
        connection = connect(path, "mode=rw")
        try:
            connection.execute("SELECT count(*) FROM head").fetchone()
        finally:
            connection.close()
