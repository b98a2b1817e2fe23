"""The entries of a ledger in PostgreSQL: many hosts write, one at a time.

A transaction holds the row of its ledger (FOR UPDATE), so that whoever decides has read everything before it. Commits do not
wait for the disk (synchronous_commit=off), so that the row is free again at once; ``make_durable`` then commits once more and
waits, and PostgreSQL syncs its log for all who wait together. The log is one sequence: what is durable includes everything before
it.

- Server killed before that second commit: the end of the log may be gone, never acknowledged. Every connection is lost with it,
  and ``Interrupted`` makes the ledger read again; what this process knows to be durable (``head``) must still be there.
- Connection lost around a commit: did it happen? Each transaction writes a random token beside its entries. ``settle`` waits for
  the row, so that the lost transaction has ended one way or the other, and looks for the token. Equal entries of others differ.
- A charge is durable before its noise is drawn (``remote``): the server may forget while this process lives on.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from dpaudit.ledger.errors import Interrupted, LedgerUnavailable, TamperedLedger
from dpaudit.ledger.store.chunk_sizes import growing_chunks
from dpaudit.ledger.store.postgres.link import PATIENCE, Link

_WRITE = """
WITH put AS (INSERT INTO dpaudit.entries SELECT %s, place, entry, %s FROM unnest(%s::bigint[], %s::text[]) AS new(place, entry))
UPDATE dpaudit.ledgers SET size = %s, root = %s WHERE id = %s
"""
_DURABLE = "SELECT set_config('synchronous_commit', %s, true), pg_logical_emit_message(true, 'dpaudit', '')"


class PostgresEntries:
    """One ledger of a database, over one connection that is renewed when it is lost."""

    remote = True

    def __init__(self, link: Link, ledger: int, readonly: bool) -> None:
        self.where, self.readonly = link.where, readonly
        self._link, self._ledger = link, ledger
        self._connection: psycopg.Connection[Any] | None = None
        self._seen = link.connected
        self._row: tuple[int, bytes] | None = None
        self._staged: list[tuple[int, str]] = []
        self._token = uuid.uuid4()
        self._durable: tuple[int, bytes] | None = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield
            self._execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._staged, self._token = [], uuid.uuid4()
        begin = f"BEGIN; SELECT size, root FROM dpaudit.ledgers WHERE id = {self._ledger} FOR UPDATE"
        with self._begun(begin) as connection:
            yield
            if not self._staged:
                connection.execute("COMMIT")
                return
            places, texts = zip(*self._staged, strict=True)
            assert self._row is not None
            size, root = self._row
            with connection.pipeline():
                connection.execute(_WRITE, (self._ledger, self._token, list(places), list(texts), size, root.hex(), self._ledger))
                connection.execute("COMMIT")

    @contextmanager
    def _begun(self, begin: str) -> Iterator[psycopg.Connection[Any]]:
        """Raises Interrupted on a new connection, once: what was read before may be gone from a server that restarted."""
        with self._link.connection() as connection:
            if self._seen != self._link.connected:
                self._seen = self._link.connected
                raise Interrupted(self.where, "the connection was renewed")
            self._connection = connection
            try:
                cursor = connection.execute(begin)
                self._row = _head_of(cursor.fetchall(), self.where) if cursor.nextset() else None
                yield connection
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._connection = self._row = None

    def sealed(self) -> tuple[int, bytes]:
        if self._connection is None or self._row is None:
            rows = self._execute("SELECT size, root FROM dpaudit.ledgers WHERE id = %s", self._ledger)
            return _head_of(rows, self.where)
        return self._row

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        for rows in growing_chunks():
            found = self._execute(
                "SELECT place, entry FROM dpaudit.entries WHERE ledger = %s AND place >= %s ORDER BY place LIMIT %s",
                self._ledger, start if start else -(2**63), rows,
            )  # fmt: skip
            found += [] if len(found) == rows else [each for each in self._unsent() if each[0] >= start]
            for place, entry in found:
                yield place, entry.encode()
            if len(found) < rows:
                return
            start = found[-1][0] + 1

    def _unsent(self) -> list[tuple[int, str]]:
        """What this transaction wrote so far; what an earlier one staged is its own, sent or lost."""
        return self._staged if self._connection is not None and self._row is not None else []

    def write(self, place: int, entry: bytes, root: bytes) -> None:
        """Kept until the end of the transaction, which sends everything at once."""
        self._staged.append((place, entry.decode("ascii")))
        self._row = (place + 1, root)

    def head(self) -> tuple[int, bytes] | None:
        """What this process knows to be durable; a database keeps no head apart from its log."""
        return self._durable

    def make_durable(self, size: int) -> None:
        if self._durable is not None and self._durable[0] >= size:
            return
        with self._link.connection() as connection:
            if self._seen != self._link.connected:  # the server may have forgotten what is to be made durable
                raise Interrupted(self.where, "the connection was renewed")
            rows = connection.execute("SELECT size, root FROM dpaudit.ledgers WHERE id = %s", (self._ledger,)).fetchall()
            if not self.readonly:
                connection.execute(_DURABLE, (self._link.level,))
            self._durable = _head_of(rows, self.where)

    def settle(self) -> bool:
        """After Interrupted: are the entries of the last transaction there? Raises LedgerUnavailable if nobody answers."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self._link.connection() as connection, connection.transaction():
                    self._seen = self._link.connected
                    if not self._staged:
                        return False
                    connection.execute("SELECT 1 FROM dpaudit.ledgers WHERE id = %s FOR UPDATE", (self._ledger,))
                    query = "SELECT token FROM dpaudit.entries WHERE ledger = %s AND place = %s"
                    row = connection.execute(query, (self._ledger, self._staged[-1][0])).fetchone()
                    return row is not None and row[0] == self._token
            except Interrupted:
                if time.monotonic() > until:
                    reason = "the server does not answer; what was asked may be charged: ask again with its key"
                    raise LedgerUnavailable(self.where, reason) from None

    def _execute(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        if self._connection is not None:
            cursor = self._connection.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []
        with self._link.connection() as connection:
            return connection.execute(query, values or None).fetchall()

    def close(self) -> None:
        self._link.close()


def _head_of(rows: list[tuple[Any, ...]], where: str) -> tuple[int, bytes]:
    try:
        ((size, root),) = rows
        return int(size), bytes.fromhex(root)
    except (TypeError, ValueError):
        raise TamperedLedger(where, "the sealed head is damaged or gone") from None
