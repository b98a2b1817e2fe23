"""The entries of a ledger in one SQLite file, with its durable head beside it.

Writers queue for the head, then write in one transaction (BEGIN IMMEDIATE). A commit puts entries into the write-ahead log
without waiting for the disk (synchronous=NORMAL: SQLite itself syncs before it moves the log into the file). ``make_durable``
waits: it syncs the log, then the head, for everything that any process committed up to then. Others commit meanwhile, and whoever
then finds the head far enough has nothing to wait for, so that processes share these two syncs. Nothing may be handed out before.

- Killed before the commit: nothing is there. Between commit and sync: the system still has the entries, and whoever opens the
  ledger next makes them durable first. Power lost there: a log is read up to the first frame that is not whole, so that an end of
  it is missing that was never acknowledged. After the head's sync: all is there.
- Killed between writing the head and syncing it: the next process may find the head far enough and hand out on a head that is not
  yet on disk. Its entries are (the log was synced before), and the next release syncs the head.
- A sync that fails, and a log or ledger that is removed or replaced under an open ledger: see ``synced_log``.

SQLite's locks belong to the process: closing any other handle of the same file would drop them, so nothing here opens a ledger
file that this process has open (``is_open_here``).
"""

from __future__ import annotations

import os
import sqlite3
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger
from dpaudit.ledger.store.chunk_sizes import growing_chunks
from dpaudit.ledger.store.refusals import Refusals, append_line, read_lines
from dpaudit.ledger.store.sqlite.connections import (
    Copy,
    checked_layout,
    connect,
    connect_for_reading,
    log_path,
    refuse_second_name,
    tidy,
)  # fmt: skip
from dpaudit.ledger.store.sqlite.creation import LAYOUT, sync_folder
from dpaudit.ledger.store.sqlite.errors import named_errors, raise_named
from dpaudit.ledger.store.sqlite.head_file import HeadFile, head_path, make_head_file
from dpaudit.ledger.store.sqlite.lock_trial import refuse_idle_locks
from dpaudit.ledger.store.sqlite.synced_log import SyncedLog

MAGIC = b"SQLite format 3\x00"

_CHUNK_BYTES = 16 * 2**20
_LEAST = -(2**63)  # an entry before the first shows, too

_open_files: Counter[tuple[int, int]] = Counter()  # device and inode of what this process has open


def is_open_here(path: Path) -> bool:
    """Has this process the ledger open? Then it must not open the file in any other way."""
    status = path.stat()
    return _open_files[status.st_dev, status.st_ino] > 0


class SqliteEntries:
    """The entries of an existing ledger file. A read-only one also works where nothing can be written."""

    remote = False

    def __init__(self, path: Path, readonly: bool) -> None:
        self.where, self.readonly = str(path), readonly
        self._named = named_errors(self.where)
        self._process = os.getpid()
        self._copy: Copy | None = None
        self._alone = not log_path(path).exists()
        self._head: HeadFile | None = None
        self._log: SyncedLog | None = None
        self._seen: tuple[int, bytes] | None = None
        self._identity = (0, 0)
        with self._named:
            try:
                self._open(path)
            except BaseException:
                self._release()
                raise

    def _open(self, path: Path) -> None:
        if not self.readonly:
            refuse_second_name(path)
        status = path.stat()
        self._identity = (status.st_dev, status.st_ino)
        _open_files[self._identity] += 1
        if self.readonly:
            self._connection, self._copy = connect_for_reading(path)
        else:
            self._connection = connect(path, "mode=rw")
        layout = checked_layout(self._connection, self.where)
        if self._copy is None:
            self._log = SyncedLog(path, self._identity, self.where)
        if not self.readonly:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")  # ``make_durable`` syncs
        self._open_head(path, layout)

    def _open_head(self, path: Path, layout: int) -> None:
        beside = head_path(path)
        if not beside.exists():
            if self.readonly:
                return
            if layout == LAYOUT:
                missing = f"its head {beside.name} is missing: move or copy it together with the ledger"
                raise TamperedLedger(self.where, f"{missing}; without it entries that were lost would not show")
            told = f"{path} is from before heads were kept; from now on {beside.name} belongs to it"
            warnings.warn(told, stacklevel=2)
            make_head_file(beside)
            sync_folder(path.parent)
        if not self.readonly:
            refuse_idle_locks(beside)
        self._head = HeadFile(beside, self.readonly)
        if not self.readonly and layout != LAYOUT:
            with self.transaction():
                self._connection.execute(f"PRAGMA user_version = {LAYOUT}")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside belongs to one moment, after that of the head: entries grow before it does."""
        self._refuse_forked()
        with self._named:
            self._seen = None if self._head is None else self._head.read()
            self._connection.execute("BEGIN")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def transaction(self) -> _Transaction:
        """What is written inside is there for everybody when this returns, or not at all when it raises."""
        return _Transaction(self)

    def _begin(self) -> None:
        assert self._head is not None  # a writer has one
        self._refuse_forked()
        self._head.writing.__enter__()
        try:
            self._seen = None
            self._connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._head.writing.__exit__(None, None, None)
            raise

    def _end(self, failed: bool) -> None:
        assert self._head is not None
        try:
            if not failed:
                self._connection.execute("COMMIT")
        except BaseException:
            failed = True
            raise
        finally:
            if failed:
                self._roll_back()
            self._head.writing.__exit__(None, None, None)

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def _refuse_forked(self) -> None:
        if os.getpid() != self._process:
            raise LedgerUnavailable(self.where, "opened before a fork; open it again in the new process")

    def head(self) -> tuple[int, bytes] | None:
        """What was acknowledged, as it stood before the snapshot began."""
        return self._head.read() if self._seen is None and self._head is not None else self._seen

    def make_durable(self, size: int) -> None:
        """So many entries, at least, are on disk and under the head when this returns."""
        self._refuse_forked()
        with self._named:
            if self.readonly:
                if self._log is not None:
                    self._log.sync(self._connection)
                return
            assert self._head is not None
            assert self._log is not None
            with self._head.syncing:
                if self._head.read()[0] < size or self._log.doubt:
                    newest = self.sealed()
                    self._log.sync(self._connection)
                    self._head.write(*newest)

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Entries from a place on, in chunks, so that no cursor stays open between them."""
        for rows in growing_chunks():
            with self._named:
                chunk = self._chunk(start, rows)
            if not chunk:
                return
            yield from chunk
            start = chunk[-1][0] + 1

    def _chunk(self, start: int, most: int) -> list[tuple[int, bytes]]:
        rows: list[tuple[int, bytes]] = []
        weight = 0
        cursor = self._connection.execute(
            "SELECT place, entry FROM entries WHERE place >= ? ORDER BY place LIMIT ?", (start or _LEAST, most)
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
        try:
            ((size, root),) = rows
            return size, bytes.fromhex(root.decode("ascii")) if root == root.lower() else b""
        except (AttributeError, TypeError, ValueError):
            raise TamperedLedger(self.where, "the sealed head is damaged") from None

    def note_refusals(self, refused: Refusals) -> None:
        append_line(_refused_path(self.where), refused)

    def refusals(self) -> list[Refusals]:
        return read_lines(_refused_path(self.where))

    def close(self) -> None:
        """Fold the write-ahead log back, so that the ledger and its head are all there is; the last one to close does."""
        if os.getpid() != self._process:
            return
        with suppress(sqlite3.Error):
            if not self.readonly:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._release()
        if self._copy is not None:
            self._copy.cleanup()
        elif self.readonly and self._alone:
            tidy(Path(self.where))

    def _release(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._identity != (0, 0):
            _open_files[self._identity] -= 1
            self._identity = (0, 0)
        if self._head is not None:
            self._head.close()
        if self._log is not None:
            self._log.close()


def _refused_path(where: str) -> Path:
    path = Path(where).resolve()
    return path.with_name(path.name + ".refused")


class _Transaction:
    """A context manager of its own: one of generators would cost as much as the transaction itself."""

    __slots__ = ("_entries",)

    def __init__(self, entries: SqliteEntries) -> None:
        self._entries = entries

    def __enter__(self) -> None:
        with self._entries._named:
            self._entries._begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._entries._named:
            self._entries._end(failed=error is not None)
        if error is not None:
            raise_named(error, self._entries.where)
