"""Signed checkpoints, kept elsewhere: without one, a ledger cut at an entry looks like a younger ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpaudit.claims import InvalidValue
from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.books.snapshot_file import Snapshots
from dpaudit.ledger.errors import TamperedLedger
from dpaudit.ledger.keys import read_public_key
from dpaudit.ledger.opening import read_entries
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.ledger import Head, Ledger
from dpaudit.ledger.store.merkle import MerkleTree

Key = Ed25519PublicKey | str | Path
Kept = Mapping[str, Any] | Head | str | Path

SCHEMA = "dpaudit.checkpoint/1"

_SIGNED = ("schema", "ledger", "size", "root")
OTHER_LEDGER = "the checkpoint belongs to another ledger"
_FORM = f"a checkpoint of schema {SCHEMA}"


@dataclass(frozen=True)
class Verified:
    """What ``verify`` found. ``trusted``: a checkpoint was signed by a key that the caller trusts."""

    path: str
    kind: str
    ledger: str
    size: int
    releases: int
    root: str
    checkpoint_size: int | None
    trusted: bool
    version: str  # of the dpaudit that wrote last
    sources: dict[str, str]  # digests of the code that wrote last
    snapshot_size: int | None = None  # entries that were not read again, as a signed snapshot vouches for them

    def to_json(self) -> dict[str, Any]:
        return {"schema": "dpaudit.verify/1", **vars(self)}


def checkpoint(ledger: Ledger, private_key: Ed25519PrivateKey) -> dict[str, Any]:
    """Sign how many entries there are now, and their root."""
    head = ledger.head()
    body = {"schema": SCHEMA, "ledger": ledger.identity, "size": head.size, "root": head.root}
    key = private_key.public_key().public_bytes_raw().hex()
    return {**body, "key": key, "signature": private_key.sign(canonical(body)).hex()}


def verify_checkpoint(data: Mapping[str, Any], key: Ed25519PublicKey | None = None) -> None:
    """Check the signature, by ``key`` or else by the key in it, which then proves no more than integrity.

    Raises TamperedLedger (DPA007) for a wrong signature or signer, InvalidValue for what is no checkpoint.
    """
    texts = all(isinstance(data.get(name), str) for name in ("ledger", "root", "key", "signature"))
    if not texts or data.get("schema") != SCHEMA or type(data.get("size")) is not int:
        raise InvalidValue("checkpoint", type(data).__name__, _FORM)
    try:
        stated, signature = bytes.fromhex(data["key"]), bytes.fromhex(data["signature"])
        signer = Ed25519PublicKey.from_public_bytes(stated)
    except ValueError:
        raise InvalidValue("checkpoint", "malformed key or signature", _FORM) from None
    if key is not None and key.public_bytes_raw() != stated:
        raise TamperedLedger("checkpoint", "signed by another key than the trusted one")
    try:
        signer.verify(signature, canonical({name: data[name] for name in _SIGNED}))
    except InvalidSignature:
        raise TamperedLedger("checkpoint", "the signature does not fit its content") from None


def verify(
    path: str | Path, checkpoint: Mapping[str, Any] | None = None, key: Ed25519PublicKey | None = None,
    snapshots: Snapshots | None = None,
) -> Verified:  # fmt: skip
    """Check every entry of a ledger or export, its head, its budget, and that it continues the checkpoint.

    ``snapshots``: only the entries after a signed snapshot are read; one that was changed before it does not show then.

    Raises TamperedLedger (exit code 1) or UnreadableLedger (exit code 2).
    """
    if checkpoint is not None:
        verify_checkpoint(checkpoint, key)
    entries, watch = read_entries(path), None if checkpoint is None else checkpoint["size"]
    try:
        with entries.snapshot():
            covered = 0
            if snapshots is None:
                book, root_then = replay(entries, PureSums, watch)
            else:
                found = snapshots.replay(entries, PureSums, watch)
                book, root_then, covered = found.book, found.root, found.covered
    finally:
        entries.close()
    if checkpoint is not None:
        _continues(book, root_then, checkpoint)
    return Verified(
        path=book.where,
        kind=book.kind,
        ledger=book.identity,
        size=book.tree.size,
        releases=book.releases,
        root=book.tree.root().hex(),
        checkpoint_size=watch,
        trusted=checkpoint is not None and key is not None,
        version=book.version,
        sources=book.sources,
        snapshot_size=covered or None,
    )


def require_continuation(ledger: Ledger, kept: Kept, key: Key | None) -> None:
    """The ledger goes on where ``kept`` ends: a signed checkpoint or its file, with the key that may sign it, or a head.

    Reads as many entries as were kept. Raises TamperedLedger (DPA007) where entries are missing or others, or another key signed.
    """
    if isinstance(kept, Head):
        size, root = kept.size, kept.root
    else:
        if key is None:
            raise InvalidValue("trusted_key", None, "given together with a checkpoint, which anybody else could have signed")
        stated = kept if isinstance(kept, Mapping) else _read(kept)
        verify_checkpoint(stated, key if isinstance(key, Ed25519PublicKey) else read_public_key(key))
        if stated["ledger"] != ledger.identity:
            raise TamperedLedger(ledger.where, OTHER_LEDGER)
        size, root = stated["size"], stated["root"]
    tree = MerkleTree()
    for entry in islice(ledger.entries(), size):
        tree.append(entry)
    _refuse_other(ledger.where, size, tree.size, tree.root().hex() == root)


def _read(path: str | Path) -> Mapping[str, Any]:
    try:
        stated = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        stated = None
    if not isinstance(stated, dict):
        raise InvalidValue("checkpoint", str(path), _FORM)
    return stated


def _continues(book: Book, root_then: bytes | None, checkpoint: Mapping[str, Any]) -> None:
    if book.identity != checkpoint["ledger"]:
        raise TamperedLedger(book.where, OTHER_LEDGER)
    same = root_then is not None and root_then.hex() == checkpoint["root"]
    _refuse_other(book.where, checkpoint["size"], book.tree.size, same)


def _refuse_other(where: str, size: int, left: int, same: bool) -> None:
    if left < size:
        raise TamperedLedger(where, f"the checkpoint has {size} entries, {left} are left")
    if not same:
        raise TamperedLedger(where, "the entries under the checkpoint were changed")
