"""A certificate opens doors of one ledger: of the one that it names, signed, or of the one that it was first used with.

What it names (``certify --ledger``, ``certify LEDGER --subject``) holds wherever the certificate goes; where it tells how far
that ledger went when it was signed, a ledger that was put back to before is refused, too. First use is known where it happened:
in the database of the ledger, for all hosts of a fleet, and in ``cert.json.bound`` beside the certificate. Both are written once
and are durable before the door opens: of several that bind at once, one is first, and the others are held to it. A copy of the
certificate that is used with another database, from another folder, is another first use, and nobody can know of both.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from dpaudit.certificate.envelope import Opened
from dpaudit.certificate.errors import NotAsCertified
from dpaudit.ledger import Head, Ledger, MalformedJson, load_file
from dpaudit.ledger.checkpoint import require_continuation

SUFFIX = ".bound"
SCHEMA = "dpaudit.bound/1"
FIRST = "it is bound to another ledger, the one that it was first used with"


def hold_to_ledger(opened: Opened, ledger: Ledger, *, bind: bool) -> None:
    """Raises NotAsCertified if the certificate is bound to another ledger. ``bind``: bind it to this one if it is to none."""
    require_named(opened, ledger.identity, ledger.where)
    _require_continued(opened, ledger)
    digest = sha256(Path(opened.path).read_bytes()).hexdigest()
    if ledger.certificate_holder(digest, bind=bind) not in (None, ledger.identity):
        raise NotAsCertified(opened.path, f"its database knows that {FIRST}")
    _hold_by_file(opened.path, digest, ledger.identity, bind=bind)


def require_named(opened: Opened, identity: str, where: str) -> None:
    """Raises NotAsCertified for another ledger than the one that the certificate names, if it names one."""
    named = opened.predicate.get("bound_to")
    if named is not None and named != {"ledger": identity}:
        raise NotAsCertified(where, "the certificate names another ledger, for which alone it was signed")


def _require_continued(opened: Opened, ledger: Ledger) -> None:
    """Raises TamperedLedger (DPA007) where the ledger that the certificate names has lost or changed what was certified of it."""
    then = opened.predicate.get("ledger")
    if opened.predicate.get("bound_to") is not None and then is not None:
        require_continuation(ledger, Head(then["size"], then["root"]), None)


def _hold_by_file(certificate: str, digest: str, identity: str, *, bind: bool) -> None:
    place = Path(f"{certificate}{SUFFIX}")
    mine = {"schema": SCHEMA, "certificate": digest, "ledger": identity}
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
        raise NotAsCertified(certificate, FIRST)


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
