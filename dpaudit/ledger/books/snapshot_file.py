"""Snapshots as files, signed with Ed25519: read only if the signature is by the key that the caller names.

A line of canonical JSON, the columns one after the other, and the signature of the SHA-256 of both. A file is written whole or
not at all. ``Snapshots`` is what a command works with: the file is read where it is there, and made or renewed where the private
key is at hand and so much was read anew that reading it again would be felt.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpaudit.claims import DpauditError
from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.books.snapshot import COLUMNS, SCHEMA, Snapshot
from dpaudit.ledger.errors import MalformedJson, TamperedLedger
from dpaudit.ledger.records.strict_json import canonical, loads
from dpaudit.ledger.spending.budget import Filter
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.sqlite.head_file import new_draft

RENEWED = 20_000  # entries that were read anew: a tenth of a second

_SIGNATURE = 64  # bytes
_CHANGED = (
    "no snapshot that this key signed: it was changed, another key signed it, or it is another file; name a new one to make one"
)


@dataclass(frozen=True)
class Snapshots:
    """The snapshot of a ledger at ``path``, signed by ``key``; ``private``: where a new one may be signed."""

    path: Path
    key: Ed25519PublicKey
    private: Ed25519PrivateKey | None = None

    def replay(self, entries: EntryStore, spends: Callable[[], Filter], watch: int | None = None) -> Replayed:
        """As ``replay`` does, from the snapshot on. A root that is asked for before it needs all entries, as does one of another
        version. Raises TamperedLedger for a snapshot that was changed, or that these entries do not continue."""
        before = self._read()
        if before is not None and (not before.is_current or (watch is not None and watch < before.size)):
            before = None
        book, root = replay(entries, spends, watch, tabled=True, snapshot=before)
        covered = 0 if before is None else before.size
        if self.private is not None and (before is None or book.tree.size - covered >= RENEWED):
            self._renew(book, entries)
        return Replayed(book, root, covered)

    def _read(self) -> Snapshot | None:
        if not self.path.exists():
            if self.private is None:
                raise DpauditError(f"{self.path}: no such snapshot; give the private key with --key to make one")
            return None
        return read_snapshot(self.path, self.key)

    def _renew(self, book: Book, entries: EntryStore) -> None:
        """Only of what was acknowledged: a head that is behind its snapshot is refused."""
        assert self.private is not None
        head = entries.head()
        if (head is None or head[0] >= book.tree.size) and book.resumable:
            write_snapshot(Snapshot.of(book), self.path, self.private)


@dataclass(frozen=True)
class Replayed:
    """``covered``: entries that were not read, as the snapshot vouches for them."""

    book: Book
    root: bytes | None
    covered: int


def write_snapshot(snapshot: Snapshot, path: Path, key: Ed25519PrivateKey) -> None:
    """Raises OSError if it cannot be written; whatever was there stays then."""
    content = b"".join((_first_line(snapshot), *(snapshot.columns[name] for name in COLUMNS)))
    draft, handle = new_draft(path.resolve())
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.write(key.sign(_statement(content)))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path.resolve())
    finally:
        draft.unlink(missing_ok=True)


def read_snapshot(path: Path, key: Ed25519PublicKey) -> Snapshot:
    """Raises TamperedLedger unless the key signed it; OSError if it cannot be read."""
    data = path.read_bytes()
    content, signature = memoryview(data)[:-_SIGNATURE], data[-_SIGNATURE:]
    try:
        key.verify(signature, _statement(content))
        end = data.index(b"\n") + 1
        facts = loads(data[: end - 1])
        if facts["schema"] != SCHEMA:
            raise ValueError
    except (InvalidSignature, ValueError, LookupError, TypeError, MalformedJson):
        raise TamperedLedger(str(path), _CHANGED) from None
    columns = {}
    for name in COLUMNS:
        columns[name], end = bytes(content[end : end + facts["lengths"][name]]), end + facts["lengths"][name]
    return Snapshot(facts, columns)


def _first_line(snapshot: Snapshot) -> bytes:
    return canonical({**snapshot.facts, "lengths": {name: len(column) for name, column in snapshot.columns.items()}}) + b"\n"


def _statement(content: bytes | memoryview) -> bytes:
    """What is signed: no other signature of dpaudit's is of this form."""
    return canonical({"schema": SCHEMA, "sha256": sha256(content).hexdigest()})
