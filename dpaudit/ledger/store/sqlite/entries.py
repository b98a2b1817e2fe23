"""The entries of a ledger in one SQLite file, with its durable head beside it.

Writers queue for the head's turn, then write in one transaction (BEGIN IMMEDIATE). A commit puts entries into the write-ahead log
without waiting for the disk (synchronous=NORMAL: SQLite itself syncs before it moves the log into the file). ``make_durable``
waits: it syncs the log, then the head, for everything that any process committed up to then. Whoever finds the head far enough
has nothing to wait for, so that processes share these two syncs. Nothing may be handed out before it.

- Killed before the commit: nothing is there. Between commit and sync: the system still has the entries, and whoever opens the
  ledger next makes them durable first. Power lost there: a log is read up to the first frame that is not whole, so that an end of
  it is missing that was never acknowledged. After the head's sync: all is there.
- Killed between writing the head and syncing it: the next process may find the head far enough and hand out on a head that is not
  yet on disk. Its entries are (the log was synced before), and the next release syncs the head.
- A sync that failed may have dropped what it could not write, and the next one would not say so; so the log is then folded into
  the file, page by page and synced, before anything is acknowledged again. What could not be synced was refused, and stays spent.
- A log or ledger that was removed or replaced under an open ledger is noticed before the next release is handed out.

SQLite's locks belong to the process: closing any other handle of the same file would drop them, so nothing here opens a ledger
file that this process has open (``is_open_here``).
"""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
import tempfile
import urllib.parse
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger, UnreadableLedger
from dpaudit.ledger.store.chunk_sizes import growing_chunks
from dpaudit.ledger.store.sqlite.creation import APPLICATION, LAYOUT, SCHEMA, sync_folder
from dpaudit.ledger.store.sqlite.errors import named_errors
from dpaudit.ledger.store.sqlite.head_file import HeadFile, head_path, make_head_file
from dpaudit.ledger.store.sqlite.lock_trial import refuse_idle_locks

MAGIC = b"SQLite format 3\x00"

_BUSY_SECONDS = 60
_CHUNK_BYTES = 16 * 2**20
_LEAST = -(2**63)  # an entry before the first shows, too
_DISK_FAILED = "the disk failed; nothing was granted"

_open_files: Counter[tuple[int, int]] = Counter()  # device and inode of what this process has open


def is_open_here(path: Path) -> bool:
    """Has this process the ledger open? Then it must not open the file in any other way."""
    status = path.stat()
    return _open_files[status.st_dev, status.st_ino] > 0


class SqliteEntries:
    """The entries of an existing ledger file. A read-only one also works where nothing can be written."""

    remote = False

    def __init__(self, path: Path, readonly: bool) -> None:
        self.where, self.readonly, self._path = str(path), readonly, path.resolve()
        self._process = os.getpid()
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._log, self._doubt = -1, False  # the log's handle; did a sync of it fail?
        self._alone = not _log_path(path).exists()
        self._head: HeadFile | None = None
        self._seen: tuple[int, bytes] | None = None
        self._identity = (0, 0)
        with named_errors(self.where):
            try:
                self._open(path)
            except BaseException:
                self._release()
                raise

    def _open(self, path: Path) -> None:
        if not self.readonly:
            _refuse_second_name(path)
        status = path.stat()
        self._identity = (status.st_dev, status.st_ino)
        _open_files[self._identity] += 1
        self._connection = self._read_only(path) if self.readonly else self._connect(path, "mode=rw")
        layout = self._check_header()
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
        log = _log_path(path)
        if not log.exists() or not log.stat().st_size:
            return self._connect(path, "immutable=1")
        # Entries of a writer that was killed are in the log only: read both files, elsewhere.
        self._copy = tempfile.TemporaryDirectory(prefix="dpaudit-")
        for source in (path, log):
            shutil.copyfile(source, Path(self._copy.name) / source.name)
        return self._connect(Path(self._copy.name) / path.name, "mode=rw")

    def _check_header(self) -> int:
        """Its layout. Raises UnreadableLedger."""
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (layout,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise UnreadableLedger(self.where, "the file is not a dpaudit ledger")
        if layout not in (1, LAYOUT):
            raise UnreadableLedger(self.where, f"ledger format {layout} is not known to this dpaudit; upgrade it")
        # Nothing but our two tables: no trigger or view of somebody else's runs here.
        tables = self._connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
        if tuple(statement for (statement,) in tables) != tuple(text.encode() for text in SCHEMA):
            raise UnreadableLedger(self.where, "the tables are not those of a dpaudit ledger")
        return int(layout)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside belongs to one moment, after that of the head: entries grow before it does."""
        with named_errors(self.where):
            self._seen = None if self._head is None else self._head.read()
        with self._begun("BEGIN"):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written inside is there for everybody when this returns, or not at all when it raises."""
        with named_errors(self.where), self._turn(), self._begun("BEGIN IMMEDIATE"):
            self._seen = None
            yield

    @contextmanager
    def _begun(self, begin: str) -> Iterator[None]:
        self._refuse_forked()
        with named_errors(self.where):
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _turn(self) -> AbstractContextManager[None]:
        self._refuse_forked()
        assert self._head is not None  # a writer has one
        return self._head.turn()

    def _refuse_forked(self) -> None:
        if os.getpid() != self._process:
            raise LedgerUnavailable(self.where, "opened before a fork; open it again in the new process")

    def head(self) -> tuple[int, bytes] | None:
        """What was acknowledged, as it stood before the snapshot began."""
        return self._head.read() if self._seen is None and self._head is not None else self._seen

    def make_durable(self, size: int) -> None:
        """So many entries, at least, are on disk and under the head when this returns."""
        with named_errors(self.where):
            if self.readonly:
                return self._sync_log()
            with self._turn():
                assert self._head is not None
                if self._head.read()[0] < size or self._doubt:
                    newest = self.sealed()
                    self._sync_log()
                    self._head.write(*newest)

    def _sync_log(self) -> None:
        """Raises LedgerUnavailable if the disk fails, TamperedLedger if the files were exchanged under us."""
        log = _log_path(self._path)
        if self._log < 0:
            if self._copy is not None or not log.exists():
                return  # everything is in the file: whoever moved it there synced it
            self._log = os.open(log, os.O_RDONLY)
            sync_folder(log.parent)
        same = log.exists() and os.path.samestat(log.stat(), os.fstat(self._log))
        if not same or (self._path.stat().st_dev, self._path.stat().st_ino) != self._identity:
            raise TamperedLedger(self.where, "the ledger or its log was removed or replaced while it was open")
        try:
            if self._doubt:
                busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if busy:
                    raise LedgerUnavailable(self.where, _DISK_FAILED)
            os.fdatasync(self._log)
        except (OSError, sqlite3.Error):
            self._doubt = True
            raise LedgerUnavailable(self.where, _DISK_FAILED) from None
        self._doubt = False

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Entries from a place on, in chunks, so that no cursor stays open between them."""
        for rows in growing_chunks():
            with named_errors(self.where):
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

    def settle(self) -> bool:
        return False

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
            self._tidy()

    def _release(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._identity != (0, 0):
            _open_files[self._identity] -= 1
            self._identity = (0, 0)
        if self._head is not None:
            self._head.close()
        if self._log >= 0:
            os.close(self._log)
            self._log = -1

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


def _log_path(path: Path) -> Path:
    path = path.resolve()
    return path.with_name(path.name + "-wal")
