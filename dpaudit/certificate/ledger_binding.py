"""A certificate bound to the ledger that it was first used with: ``cert.json.bound`` beside it names both.

The file is made exclusively and synced before the door opens, and never rewritten: of two processes that bind at once, one is
first and the other is held to what that one wrote. It binds the certificate where it lies; a copy elsewhere, without its
``.bound``, is another first use.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from dpaudit.certificate.errors import NotAsCertified
from dpaudit.ledger import MalformedJson, load_file

SUFFIX = ".bound"
SCHEMA = "dpaudit.bound/1"


def hold_to_ledger(certificate: str | Path, identity: str, *, bind: bool) -> None:
    """Raises NotAsCertified if the certificate is bound to another ledger. ``bind``: bind it to this one if it is to none."""
    place = Path(f"{certificate}{SUFFIX}")
    mine = {"schema": SCHEMA, "certificate": sha256(Path(certificate).read_bytes()).hexdigest(), "ledger": identity}
    if bind:
        _write_once(place, json.dumps(mine, indent=2) + "\n")
    if not place.exists():
        return
    try:
        bound = load_file(place)
    except MalformedJson:
        bound = None
    if not isinstance(bound, dict) or bound.get("schema") != SCHEMA or bound.get("certificate") != mine["certificate"]:
        raise NotAsCertified(str(place), "it does not say to which ledger this certificate is bound")
    if bound.get("ledger") != identity:
        raise NotAsCertified(str(certificate), "it is bound to another ledger, the one that it was first used with")


def _write_once(place: Path, text: str) -> None:
    """All of it, synced, under a name that did not exist; or nothing, where it does."""
    partial = place.with_name(f"{place.name}.{os.getpid()}.partial")
    try:
        with partial.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(partial, place)
    except FileExistsError:
        return
    finally:
        partial.unlink(missing_ok=True)
    folder = os.open(place.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
