"""Signed checkpoints, kept elsewhere: without one, a ledger cut at an entry looks like a younger ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpaudit.claims import InvalidValue
from dpaudit.ledger.errors import TamperedLedger
from dpaudit.ledger.opening import read_entries
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.book import Book, replay
from dpaudit.ledger.store.ledger import Ledger

SCHEMA = "dpaudit.checkpoint/1"

_SIGNED = ("schema", "ledger", "size", "root")
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


def verify(path: str | Path, checkpoint: Mapping[str, Any] | None = None, key: Ed25519PublicKey | None = None) -> Verified:
    """Check every entry of a ledger or export, its head, its budget, and that it continues the checkpoint.

    Raises TamperedLedger (exit code 1) or UnreadableLedger (exit code 2).
    """
    if checkpoint is not None:
        verify_checkpoint(checkpoint, key)
    entries, watch = read_entries(path), None if checkpoint is None else checkpoint["size"]
    try:
        with entries.snapshot():
            book, root_then = replay(entries, PureSums, watch)
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
    )


def _continues(book: Book, root_then: bytes | None, checkpoint: Mapping[str, Any]) -> None:
    if book.identity != checkpoint["ledger"]:
        raise TamperedLedger(book.where, "the checkpoint belongs to another ledger")
    if book.tree.size < checkpoint["size"]:
        missing = f"the checkpoint has {checkpoint['size']} entries, {book.tree.size} are left"
        raise TamperedLedger(book.where, missing)
    if root_then is None or root_then.hex() != checkpoint["root"]:
        raise TamperedLedger(book.where, "the entries under the checkpoint were changed")
