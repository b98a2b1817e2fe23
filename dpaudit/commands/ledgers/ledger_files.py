"""``dpaudit keygen``, ``checkpoint``, ``verify`` and ``export``: what keeps a ledger honest and readable."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.claims import DpauditError
from dpaudit.commands import HOLDS, UNPROVEN, Answer, Command, as_json
from dpaudit.commands.options import add_verify_options

if TYPE_CHECKING:
    from dpaudit.ledger.books.snapshot_file import Snapshots


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
    from dpaudit.ledger.keys import read_private_key

    with open_ledger(options.ledger, readonly=True) as ledger:
        return HOLDS, as_json(checkpoint(ledger, read_private_key(options.key)))


def verify_command(options: argparse.Namespace) -> Answer:
    """Replay a ledger or its export, and hold it to a checkpoint; or check a certificate."""
    from dpaudit.commands.gate.certify import is_certificate, verify_certificate
    from dpaudit.ledger import load_file, verify
    from dpaudit.ledger.keys import read_public_key
    from dpaudit.ledger.opening import shown_place

    if is_certificate(options.target):
        return verify_certificate(options)
    foreign = [name for name in ("ledger", "source", "registry") if getattr(options, name) is not None]
    if foreign:
        raise DpauditError(f"--{foreign[0]} is for certificates; {shown_place(options.target)} is none")
    if options.key is not None and options.checkpoint is None and options.snapshot is None:
        raise DpauditError("--key is the key that signed a checkpoint; give --checkpoint FILE as well")
    mark = None if options.checkpoint is None else load_file(options.checkpoint)
    if mark is not None and not isinstance(mark, dict):
        raise DpauditError(f"{options.checkpoint} is not a checkpoint")
    snapshots = snapshots_of(options)
    key = snapshots.key if snapshots else None if options.key is None else read_public_key(options.key)
    ledger = verify(options.target, mark, key, snapshots)
    if mark is not None:
        _refuse_revoked(options.checkpoint, bytes.fromhex(mark["key"]))
    code = HOLDS if ledger.checkpoint_size is None or ledger.trusted else UNPROVEN
    if options.format == "json":
        return code, as_json(ledger.to_json())
    entries = f"{ledger.size} entries, {ledger.releases} releases, {ledger.kind} ledger"
    lines = [f"{shown_place(options.target)}: whole; {entries}, root {ledger.root[:16]}…"]
    if ledger.snapshot_size is not None:
        lines.append(f"  {not_read(ledger.snapshot_size)}")
    if ledger.checkpoint_size is None:
        lines.append("  no checkpoint given: entries cut off at the end would not show")
    else:
        signer = "signed by the trusted key" if ledger.trusted else "anybody may have signed it: give the trusted key with --key"
        lines.append(f"  continues the checkpoint at {ledger.checkpoint_size} entries; {signer}")
    return code, "\n".join(lines)


def snapshots_of(options: argparse.Namespace) -> Snapshots | None:
    """What --snapshot and --key name. A private key may sign a new one, a public one is for reading."""
    from dpaudit.ledger import TamperedLedger
    from dpaudit.ledger.books.snapshot_file import Snapshots
    from dpaudit.ledger.keys import read_key_pair

    if options.snapshot is None:
        return None
    if options.key is None:
        raise DpauditError("--snapshot needs --key: whoever can write a file can write a snapshot, so only a signed one counts")
    public, private = read_key_pair(options.key)
    if is_revoked(public.public_bytes_raw()):
        raise TamperedLedger(options.snapshot, "the key that signs it is revoked; take another, and make a new one")
    return Snapshots(Path(options.snapshot), public, private)


def not_read(covered: int) -> str:
    return f"the first {covered} entries were not read again: the snapshot says what they were when it was signed"


def _refuse_revoked(checkpoint: str, signer: bytes) -> None:
    """A revoked key may have signed a checkpoint of any length: it says nothing of what was cut off."""
    from dpaudit.ledger import TamperedLedger

    if is_revoked(signer):
        raise TamperedLedger(checkpoint, "the key that signed it is revoked; sign a new one")


def is_revoked(signer: bytes) -> bool:
    """Does [tool.dpaudit] name it among the revoked keys?"""
    from dpaudit.gate.policy import read_config
    from dpaudit.ledger.keys import read_public_key

    return any(read_public_key(file).public_bytes_raw() == signer for file in read_config(".").revoked_keys)


def export_command(options: argparse.Namespace) -> Answer:
    """Write a ledger as JSON Lines, or its releases as a Parquet table, whichever the file's name asks for."""
    from dpaudit.ledger import export_jsonl, export_parquet, is_ledger, open_ledger

    if options.output is None:
        raise DpauditError("export needs --output FILE.jsonl or --output FILE.parquet")
    place = Path(options.output)
    if place.suffix not in (".jsonl", ".parquet"):
        raise DpauditError(f"--output {place}: the name must end in .jsonl or .parquet")
    if place.exists() and Path(options.ledger).exists() and place.samefile(options.ledger):
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


def _add_keygen_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", dest="name", metavar="NAME", required=True, help="writes NAME and NAME.pub")


def _add_checkpoint_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER")
    command.add_argument("--key", required=True, help="private key from dpaudit keygen")


def _add_export_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("ledger", metavar="LEDGER")


COMMANDS = (
    Command("keygen", "make an Ed25519 key pair for checkpoints and certificates", keygen_command, _add_keygen_options),
    Command("checkpoint", "sign how long a ledger is now, to be kept elsewhere", checkpoint_command, _add_checkpoint_options),
    Command(
        "verify",
        "check a certificate, or a ledger entry by entry and against a checkpoint",
        verify_command,
        add_verify_options,
    ),
    Command(
        "export",
        "write a ledger to --output FILE.jsonl (all entries) or FILE.parquet (its releases)",
        export_command,
        _add_export_options,
    ),
)
