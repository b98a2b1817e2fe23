"""``dpaudit keygen``, ``checkpoint``, ``verify`` and ``export``: what keeps a ledger honest and readable."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError
from dpaudit.commands import HOLDS, UNPROVEN, Answer, as_json

LARGEST_KEY = 10_000


def keygen_command(options: argparse.Namespace) -> Answer:
    """An Ed25519 pair: NAME, readable by its owner only, and NAME.pub. Never overwrites."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = Ed25519PrivateKey.generate()
    private, public = Path(options.name), Path(options.name + ".pub")
    if private.exists() or public.exists():
        raise DpauditError(f"{private} or {public} exists already; a key is never overwritten")
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with os.fdopen(os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    if options.format == "json":
        return HOLDS, as_json({"schema": "dpaudit.keygen/1", "private": str(private), "public": str(public)})
    return HOLDS, f"{private}: private key, keep it to yourself\n{public}: public key, give it to whoever verifies"


def checkpoint_command(options: argparse.Namespace) -> Answer:
    """Sign how long a ledger is now; kept elsewhere, it shows every later truncation."""
    from dpaudit.ledger import checkpoint, open_ledger

    with open_ledger(options.ledger, readonly=True) as ledger:
        return HOLDS, as_json(checkpoint(ledger, _private_key(options.key)))


def verify_command(options: argparse.Namespace) -> Answer:
    """Replay a ledger or its export, and hold it to a checkpoint."""
    from dpaudit.ledger import load_file, verify

    mark = None if options.checkpoint is None else load_file(options.checkpoint)
    if mark is not None and not isinstance(mark, dict):
        raise DpauditError(f"{options.checkpoint} is not a checkpoint")
    found = verify(options.target, mark, None if options.key is None else _public_key(options.key))
    code = HOLDS if found.checkpoint_size is None or found.trusted else UNPROVEN
    if options.key is not None and mark is None:
        raise DpauditError("--key is the key that signed a checkpoint; give --checkpoint FILE as well")
    if options.format == "json":
        return code, as_json(found.to_json())
    lines = [
        f"{options.target}: whole; {found.size} entries, {found.releases} releases, {found.kind} ledger, root {found.root[:16]}…"
    ]
    if found.checkpoint_size is None:
        lines.append("  no checkpoint given: entries cut off at the end would not show")
    else:
        signer = "signed by the trusted key" if found.trusted else "anybody may have signed it: give the trusted key with --key"
        lines.append(f"  continues the checkpoint at {found.checkpoint_size} entries; {signer}")
    return code, "\n".join(lines)


def export_command(options: argparse.Namespace) -> Answer:
    """Write a ledger as JSON Lines, or its releases as a Parquet table, whichever the file's name asks for."""
    from dpaudit.ledger import export_jsonl, export_parquet, is_ledger, open_ledger

    if options.output is None:
        raise DpauditError("export needs --output FILE.jsonl or --output FILE.parquet")
    place = Path(options.output)
    if place.suffix not in (".jsonl", ".parquet"):
        raise DpauditError(f"--output {place}: the name must end in .jsonl or .parquet")
    if place.exists() and place.samefile(options.ledger):
        raise DpauditError(f"{place} is the ledger itself")
    if not is_ledger(options.ledger):
        raise DpauditError(f"{options.ledger} is not a ledger")
    partial = place.with_name(place.name + ".partial")
    try:
        with open_ledger(options.ledger, readonly=True) as ledger:
            head, kind = (export_parquet if place.suffix == ".parquet" else export_jsonl)(ledger, partial), ledger.kind
        partial.replace(place)
    finally:
        partial.unlink(missing_ok=True)
    options.output = None  # it holds the export; the answer goes to the terminal
    if options.format == "json":
        return HOLDS, as_json(
            {"schema": "dpaudit.export/1", "file": str(place), "size": head.size, "root": head.root, "kind": kind}
        )
    return HOLDS, f"{place}: {head.size} entries of a {kind} ledger, root {head.root[:16]}…"


def _private_key(path: str) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return _loaded(path, lambda data: load_pem_private_key(data, None), Ed25519PrivateKey)


def _public_key(path: str) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    return _loaded(path, load_pem_public_key, Ed25519PublicKey)


def _loaded(path: str, load: Any, kind: type) -> Any:
    place = Path(path)
    if place.exists() and (not place.is_file() or place.stat().st_size > LARGEST_KEY):
        raise DpauditError(f"{path} holds no Ed25519 key: it is not a file of at most {LARGEST_KEY} bytes")
    data = place.read_bytes()
    try:
        key = load(data)
    except (ValueError, TypeError, DpauditError):
        key = None
    except Exception as error:  # cryptography raises its own types for other kinds of keys
        raise DpauditError(f"{path} holds no Ed25519 key that dpaudit can read ({type(error).__name__})") from error
    if not isinstance(key, kind):
        raise DpauditError(f"{path} holds no Ed25519 key of the right kind; make one with dpaudit keygen")
    return key
