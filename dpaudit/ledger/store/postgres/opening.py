"""Opens ledgers in a database, and makes them, all or nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dpaudit.ledger.errors import LedgerUnavailable, UnreadableLedger
from dpaudit.ledger.store.merkle import MerkleTree
from dpaudit.ledger.store.postgres.address import Address, parse_address
from dpaudit.ledger.store.postgres.migrations import migrate, refuse_future, version_of

if TYPE_CHECKING:
    from psycopg import Connection

    from dpaudit.ledger.store.postgres.connections import Connections
    from dpaudit.ledger.store.postgres.entries import PostgresEntries


def open_entries(place: str, first: Callable[[], bytes] | None) -> PostgresEntries:
    """The entries at this address; ``first`` makes a ledger where there is none of that name."""
    address = parse_address(place)
    connections = _connections(address)
    from dpaudit.ledger.store.postgres.entries import PostgresEntries

    try:
        with connections.reading.connection() as connection:
            if first is None:
                found = version_of(connection)
                refuse_future(found, address.shown)
                ledger = _id(connection, address.ledger) if found else None
            else:
                migrate(connection, address.shown)
                ledger = _id(connection, address.ledger) or _insert(connection, address.ledger, [first()])
        if ledger is None:
            raise UnreadableLedger(address.shown, f"the database holds no ledger called {address.ledger}")
        return PostgresEntries(connections, ledger, readonly=first is None)
    except BaseException:
        connections.release()
        raise


def create(place: str, entries: Iterable[bytes]) -> None:
    """Make a ledger with these entries. Raises LedgerUnavailable where one of that name exists."""
    address = parse_address(place)
    connections = _connections(address)
    try:
        with connections.writing.connection() as connection:
            migrate(connection, address.shown)
            if _insert(connection, address.ledger, entries, exist_ok=False) is None:
                raise LedgerUnavailable(address.shown, "a ledger of that name exists; give another with ?ledger=NAME")
    finally:
        connections.release()


def _connections(address: Address) -> Connections:
    try:
        from dpaudit.ledger.store.postgres.connections import Connections
    except ImportError:
        raise UnreadableLedger(address.shown, "PostgreSQL needs psycopg: pip install 'dpaudit[postgres]'") from None
    return Connections(address)


def _id(connection: Connection[Any], name: str) -> int | None:
    row = connection.execute("SELECT id FROM dpaudit.ledgers WHERE name = %s", (name,)).fetchone()
    return None if row is None else int(row[0])


def _insert(connection: Connection[Any], name: str, entries: Iterable[bytes], exist_ok: bool = True) -> int | None:
    """The id of the ledger; of the existing one, or None, if somebody else made it first."""
    with connection.transaction():
        connection.execute("SET LOCAL synchronous_commit = on")
        query = "INSERT INTO dpaudit.ledgers (name, size, root) VALUES (%s, 0, '') ON CONFLICT (name) DO NOTHING RETURNING id"
        row = connection.execute(query, (name,)).fetchone()
        if row is None:
            return _id(connection, name) if exist_ok else None
        tree, token = MerkleTree(), uuid.uuid4()
        with connection.cursor() as cursor, cursor.copy("COPY dpaudit.entries (ledger, place, entry, token) FROM STDIN") as copy:
            for entry in entries:
                copy.write_row((row[0], tree.size, entry.decode("ascii"), token))
                tree.append(entry)
        update = "UPDATE dpaudit.ledgers SET size = %s, root = %s WHERE id = %s"
        connection.execute(update, (tree.size, tree.root().hex(), row[0]))
        return int(row[0])
