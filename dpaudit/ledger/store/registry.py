"""The stores by the scheme of an address: "scheme://…"; what has no scheme is a file."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from dpaudit.ledger.errors import UnreadableLedger
from dpaudit.ledger.store.interface import Store

# Scheme → the module of its store, whose ``open_entries`` is loaded when it is asked for.
STORES = {
    "file": "dpaudit.ledger.store.files",
    "memory": "dpaudit.ledger.store.memory",
    "postgresql": "dpaudit.ledger.store.postgres",
}

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://")


def scheme_of(place: str | Path) -> str:
    """The scheme of an address; "file" for a path."""
    matched = _ADDRESS.match(place) if isinstance(place, str) else None
    return "file" if matched is None else matched[1]


def store_of(place: str | Path) -> Store:
    """What opens this place. Raises UnreadableLedger for an address that no store knows."""
    scheme = scheme_of(place)
    if scheme not in STORES:
        known = "a ledger is a file, or postgresql://user@host:port/database?ledger=NAME"
        raise UnreadableLedger(f"{scheme}://…", f"no store of ledgers for {scheme}://; {known}")  # the rest may hold a password
    store: Store = import_module(STORES[scheme]).open_entries
    return store
