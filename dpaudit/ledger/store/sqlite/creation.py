"""Makes ledger files, all or nothing.

First the head is made, saying nothing; then the ledger is filled under another name and linked to its own while the head is
held. A process that is killed between leaves a head that says nothing without a ledger, and the next one goes on from there. A
head that says something, without its ledger, is a ledger that was lost: it is not begun anew in silence.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dpaudit.ledger.errors import TamperedLedger
from dpaudit.ledger.store.merkle import MerkleTree
from dpaudit.ledger.store.sqlite.errors import named_errors
from dpaudit.ledger.store.sqlite.head_file import HeadFile, head_path, make_head_file, new_draft
from dpaudit.ledger.store.sqlite.lock_trial import refuse_idle_locks

APPLICATION = 0x64704C31  # "dpL1"
LAYOUT = 3  # with a head; 1: from before heads were kept; 2 was never written
SCHEMA = (
    "CREATE TABLE entries (place INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT",
    "CREATE TABLE head (row INTEGER PRIMARY KEY, size INTEGER NOT NULL, root TEXT NOT NULL) STRICT",
)


def create(path: Path, entries: Iterable[bytes]) -> None:
    """Make a ledger file with these entries. An existing one is left as it is. Raises LedgerUnavailable, TamperedLedger."""
    beside = head_path(path)
    with named_errors(str(path)):
        while not path.exists():
            make_head_file(beside)
            refuse_idle_locks(beside)
            head = HeadFile(beside, readonly=False)
            try:
                with head.writing:
                    if _is_named(head):
                        _create(path, head, entries)
            finally:
                head.close()


def _is_named(head: HeadFile) -> bool:
    """Is it still the file of that name? Whoever fails to make a ledger removes the head again."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.stat(head.path), os.fstat(head.handle))
    return False


def _create(path: Path, head: HeadFile, entries: Iterable[bytes]) -> None:
    if path.exists():
        return
    size, _ = head.read()
    if size:
        lost = f"{head.path.name} says that {size} entries were acknowledged here, and the ledger is gone; put it back"
        raise TamperedLedger(str(path), f"{lost}, or remove the head as well to begin anew")
    try:
        draft, handle = new_draft(path)
        os.close(handle)
        try:
            _fill(draft, entries)
            os.link(draft, path)
        finally:
            draft.unlink()
        sync_folder(path.parent)
    except BaseException:
        if not path.exists():
            head.path.unlink(missing_ok=True)
        raise


def _fill(draft: Path, entries: Iterable[bytes]) -> None:
    tree = MerkleTree()

    def row(place: int, entry: bytes) -> tuple[int, str]:
        tree.append(entry)
        return place, entry.decode("ascii")

    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {LAYOUT}")
        for statement in SCHEMA:
            connection.execute(statement)
        connection.executemany("INSERT INTO entries VALUES (?, ?)", (row(*each) for each in enumerate(entries)))
        connection.execute("INSERT INTO head VALUES (0, ?, ?)", (tree.size, tree.root().hex()))
        connection.execute("COMMIT")
    finally:
        connection.close()


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
