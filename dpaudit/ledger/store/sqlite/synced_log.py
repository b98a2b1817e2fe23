"""The write-ahead log of an open ledger: on disk when ``sync`` returns, and still the log that belongs to the file.

A sync that failed may have dropped what it could not write, and the next one would not say so; so the log is then folded into the
file, page by page and synced, before anything is acknowledged again. What could not be synced was refused, and stays spent.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger
from dpaudit.ledger.store.sqlite.connections import log_path
from dpaudit.ledger.store.sqlite.creation import sync_folder

_FAILED = "the disk failed; nothing was granted"


class SyncedLog:
    """The log beside the ledger at ``path``, which is open as ``identity`` (device, inode)."""

    def __init__(self, path: Path, identity: tuple[int, int], where: str) -> None:
        self._ledger, self._identity, self._where = str(path.resolve()), identity, where
        self._path, self._handle = str(log_path(path)), -1
        self.doubt = False  # did a sync fail?

    def sync(self, connection: sqlite3.Connection) -> None:
        """Raises LedgerUnavailable if the disk fails, TamperedLedger if the files were exchanged under us."""
        if self._handle < 0:
            if not os.path.exists(self._path):
                return  # everything is in the file: whoever moved it there synced it
            self._handle = os.open(self._path, os.O_RDONLY)
            sync_folder(Path(self._path).parent)
        self._refuse_exchanged()
        try:
            if self.doubt:
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if busy:
                    raise LedgerUnavailable(self._where, _FAILED)
            os.fdatasync(self._handle)
        except (OSError, sqlite3.Error):
            self.doubt = True
            raise LedgerUnavailable(self._where, _FAILED) from None
        self.doubt = False

    def _refuse_exchanged(self) -> None:
        try:
            named, ledger = os.stat(self._path), os.stat(self._ledger)
            same = os.path.samestat(named, os.fstat(self._handle)) and (ledger.st_dev, ledger.st_ino) == self._identity
        except FileNotFoundError:
            same = False
        if not same:
            raise TamperedLedger(self._where, "the ledger or its log was removed or replaced while it was open")

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
