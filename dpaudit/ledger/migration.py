"""Moves a ledger to another store, with the same entries and the same head: checkpoints and certificates go on to hold.

The old one is closed first, by an entry that names the new place, and then copied: never are there two that could be spent from.
A move that was interrupted is finished by asking for it again, to the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from dpaudit.claims import DpauditError
from dpaudit.ledger.errors import LedgerUnavailable, UnreadableLedger
from dpaudit.ledger.export import ExportEntries
from dpaudit.ledger.opening import open_ledger, read_entries
from dpaudit.ledger.store.ledger import Head
from dpaudit.ledger.store.registry import scheme_of


def move(old: str | Path, new: str | Path) -> Head:
    """Move OLD to NEW, which must not exist; returns the head of NEW. Raises DpauditError."""
    name = _name_of(new)
    _refuse_existing(new, name)
    with open_ledger(old, readonly=True) as ledger:
        kind, moved, exported = ledger.kind, ledger.moved, isinstance(ledger._entries, ExportEntries)
    if moved not in (None, name):
        raise LedgerUnavailable(str(old), f"it was moved to {moved} already; move that")
    if moved is None and not exported:
        with open_ledger(old, kind=kind) as ledger:
            ledger.close_for_move(name)
    with open_ledger(old, readonly=True) as ledger:
        count = ledger.head().size - (0 if exported else 1)
        _create(new, islice(ledger.entries(), count))
    with open_ledger(new, readonly=True) as made:
        return made.head()


def _create(new: str | Path, entries: Iterator[bytes]) -> None:
    if scheme_of(new) == "file":
        from dpaudit.ledger.store.sqlite import create

        create(Path(new), entries)
    else:
        from dpaudit.ledger.store.postgres import create as create_there

        create_there(str(new), entries)


def _name_of(new: str | Path) -> str:
    """What the old ledger says of the new place: never a password."""
    scheme = scheme_of(new)
    if scheme == "file":
        return str(Path(new).absolute())
    if scheme != "postgresql":
        raise DpauditError(f"a ledger is moved to a file or to postgresql://…, not to {scheme}://")
    from dpaudit.ledger.store.postgres.address import parse_address

    return parse_address(str(new)).shown


def _refuse_existing(new: str | Path, name: str) -> None:
    if scheme_of(new) == "file":
        if Path(new).exists():
            raise LedgerUnavailable(name, "the file exists; move to a new one")
        return
    try:
        read_entries(new).close()
    except UnreadableLedger:
        return
    raise LedgerUnavailable(name, "a ledger of that name exists; give another with ?ledger=NAME")
