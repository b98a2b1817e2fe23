"""A ledger in one SQLite file: write-ahead log, synchronous=FULL, one writer at a time (BEGIN IMMEDIATE)."""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
import tempfile
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger, UnreadableLedger
from dpaudit.ledger.store.book import FORMAT
from dpaudit.ledger.store.merkle import tree_root
from dpaudit.ledger.store.sqlite_errors import named_errors

MAGIC = b"SQLite format 3\x00"

_APPLICATION = 0x64704C31  # "dpL1"
_BUSY_SECONDS = 60
_CHUNK_ROWS, _CHUNK_BYTES = 10_000, 16 * 2**20
_SCHEMA = (
    "CREATE TABLE entries (place INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT",
    "CREATE TABLE head (row INTEGER PRIMARY KEY, size INTEGER NOT NULL, root TEXT NOT NULL) STRICT",
)


def create(path: Path, entries: list[bytes]) -> None:
    """Make a ledger file with these entries, all or nothing. An existing file is left as it is.

    The file is complete before it gets its name, so that an empty file is never taken for a new ledger.
    """
    with named_errors(str(path)):
        handle, draft = tempfile.mkstemp(prefix=path.name + ".", suffix=".new", dir=path.parent)
        os.close(handle)
        try:
            _fill(draft, entries)
            os.chmod(draft, 0o666 & ~_umask())
            with suppress(FileExistsError):
                os.link(draft, path)
            _sync_folder(path.parent)
        finally:
            Path(draft).unlink(missing_ok=True)


def _fill(draft: str, entries: list[bytes]) -> None:
    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        _settings(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        for statement in _SCHEMA:
            connection.execute(statement)
        rows = ((place, entry.decode("ascii")) for place, entry in enumerate(entries))
        connection.executemany("INSERT INTO entries VALUES (?, ?)", rows)
        connection.execute("INSERT INTO head VALUES (0, ?, ?)", (len(entries), tree_root(entries).hex()))
        connection.execute("COMMIT")
    finally:
        connection.close()


def _settings(connection: sqlite3.Connection) -> None:
    for pragma in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")


class SqliteEntries:
    """The entries of an existing ledger file. A read-only one also works where nothing can be written."""

    def __init__(self, path: Path, readonly: bool) -> None:
        self.where, self.readonly = str(path), readonly
        self._process = os.getpid()
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._alone = not path.with_name(path.name + "-wal").exists()
        with named_errors(self.where):
            if not readonly:
                _refuse_second_name(path)
            self._connection = self._read_only(path) if readonly else self._connect(path, "mode=rw")
            try:
                self._check_header()
                if not readonly:
                    _settings(self._connection)
            except BaseException:
                self._connection.close()
                raise

    def _connect(self, path: Path, mode: str) -> sqlite3.Connection:
        address = f"file:{urllib.parse.quote(str(path.absolute()))}?{mode}"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False)
        connection.text_factory = bytes
        return connection

    def _read_only(self, path: Path) -> sqlite3.Connection:
        """Share the write-ahead log with writers; where that cannot be, read the file as it stands."""
        connection = self._connect(path, "mode=ro")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
        log = path.with_name(path.name + "-wal")
        if not log.exists() or not log.stat().st_size:
            return self._connect(path, "immutable=1")
        # Entries of a writer that was killed are in the log only: read both files, elsewhere.
        self._copy = tempfile.TemporaryDirectory(prefix="dpaudit-")
        for source in (path, log):
            shutil.copyfile(source, Path(self._copy.name) / source.name)
        return self._connect(Path(self._copy.name) / path.name, "mode=rw")

    def _check_header(self) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise UnreadableLedger(self.where, "the file is not a dpaudit ledger")
        if version != FORMAT:
            raise UnreadableLedger(self.where, f"ledger format {version} is not known to this dpaudit; upgrade it")
        # Nothing but our two tables: no trigger or view of somebody else's runs here.
        tables = self._connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
        if tuple(statement for (statement,) in tables) != tuple(text.encode() for text in _SCHEMA):
            raise UnreadableLedger(self.where, "the tables are not those of a dpaudit ledger")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside belongs to one moment."""
        with self._begun("BEGIN"):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written inside is on disk when this returns, or not written at all when it raises."""
        with self._begun("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def _begun(self, begin: str) -> Iterator[None]:
        if os.getpid() != self._process:
            raise LedgerUnavailable(self.where, "opened before a fork; open it again in the new process")
        with named_errors(self.where):
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Entries from a place on, in chunks, so that no cursor stays open between them."""
        while True:
            with named_errors(self.where):
                chunk = self._chunk(start)
            if not chunk:
                return
            yield from chunk
            start = chunk[-1][0] + 1

    def _chunk(self, start: int) -> list[tuple[int, bytes]]:
        rows: list[tuple[int, bytes]] = []
        weight = 0
        cursor = self._connection.execute(
            "SELECT place, entry FROM entries WHERE place >= ? ORDER BY place LIMIT ?", (start, _CHUNK_ROWS)
        )
        for place, entry in cursor:
            if type(place) is not int or type(entry) is not bytes:
                raise TamperedLedger(self.where, "an entry is not a text")
            rows.append((place, entry))
            weight += len(entry)
            if weight > _CHUNK_BYTES:
                break
        cursor.close()
        return rows

    def write(self, place: int, entry: bytes, root: bytes) -> None:
        self._connection.execute("INSERT INTO entries VALUES (?, ?)", (place, entry.decode("ascii")))
        self._connection.execute("UPDATE head SET size = ?, root = ?", (place + 1, root.hex()))

    def sealed(self) -> tuple[int, bytes]:
        rows = self._connection.execute("SELECT size, root FROM head").fetchall()
        (least,) = self._connection.execute("SELECT min(place) FROM entries").fetchone()
        if least is not None and least < 0:
            raise TamperedLedger(self.where, "an entry stands before the first")
        try:
            ((size, root),) = rows
            return size, bytes.fromhex(root.decode("ascii")) if root == root.lower() else b""
        except (AttributeError, TypeError, ValueError):
            raise TamperedLedger(self.where, "the sealed head is damaged") from None

    def close(self) -> None:
        """Fold the write-ahead log back, so that the ledger is one file; the last one to close does."""
        if os.getpid() != self._process:
            return
        with suppress(sqlite3.Error):
            if not self.readonly:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        if self._copy is not None:
            self._copy.cleanup()
        elif self.readonly and self._alone:
            self._tidy()

    def _tidy(self) -> None:
        """A reader leaves an empty log behind; a writer that closes last removes it."""
        with suppress(sqlite3.Error, UnicodeDecodeError):
            connection = self._connect(Path(self.where), "mode=rw")
            try:
                connection.execute("SELECT count(*) FROM head").fetchone()
            finally:
                connection.close()


def _refuse_second_name(path: Path) -> None:
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


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
