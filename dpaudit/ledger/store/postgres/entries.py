"""The entries of a ledger in PostgreSQL: many hosts write, one at a time.

Whoever writes holds the row of the ledger (FOR UPDATE), so that it has read everything before it decides. ``combined_commits``
opens these transactions, for all ledgers of a process that are asked for something meanwhile; here is what one of them reads and
writes in it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg

from dpaudit.ledger.errors import Interrupted, LedgerUnavailable, TamperedLedger
from dpaudit.ledger.store.chunk_sizes import growing_chunks
from dpaudit.ledger.store.commit_queue import CommitQueue
from dpaudit.ledger.store.interface import Member
from dpaudit.ledger.store.postgres.connections import Connections
from dpaudit.ledger.store.postgres.side_tables import bind_certificate, bound_ledger, count_refusals, counted_refusals
from dpaudit.ledger.store.refusals import Refusals

_HEAD = "SELECT size, root FROM dpaudit.ledgers WHERE id = %s"
_READ = "SELECT place, entry FROM dpaudit.entries WHERE ledger = %s AND place >= %s ORDER BY place LIMIT %s"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


@dataclass
class Hold:
    """A ledger in a transaction of this thread. ``new``: all entries from ``start`` on, where they were read with the row."""

    connection: psycopg.Connection[Any]
    row: tuple[int, bytes] | None = None
    start: int = 0
    new: list[tuple[int, str]] | None = None
    staged: list[tuple[int, str]] = field(default_factory=list)  # written, and sent when the transaction ends


class PostgresEntries:
    """One ledger of a database, over the connections that its process shares."""

    remote = True
    member: Member

    def __init__(self, connections: Connections, ledger: int, readonly: bool) -> None:
        self.where, self.readonly, self.ledger = connections.where, readonly, ledger
        self._connections = connections
        self._seen = connections.renewals()
        self._held = threading.local()
        self.durable: tuple[int, bytes] | None = None  # what this process knows to be on the server's disk

    def join(self, member: Member) -> CommitQueue:
        self.member = member
        return self._connections.commits.queue

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._connections.reading.connection() as connection:
            self.refuse_renewed()
            connection.execute(_SNAPSHOT)
            try:
                with self.holding(Hold(connection)):
                    yield
            finally:
                with suppress(psycopg.Error):
                    connection.execute("COMMIT")

    def transaction(self) -> AbstractContextManager[None]:
        return self._connections.commits.alone(self)

    @contextmanager
    def holding(self, hold: Hold) -> Iterator[Hold]:
        """What this thread reads and writes meanwhile belongs to that transaction."""
        self._held.hold = hold
        try:
            yield hold
        finally:
            self._held.hold = None

    def _hold(self) -> Hold | None:
        return getattr(self._held, "hold", None)

    def refuse_renewed(self) -> None:
        """Raises Interrupted once for new connections: what was read before may be gone from a server that restarted."""
        if self._seen != self._connections.renewals():
            self._seen = self._connections.renewals()
            raise Interrupted(self.where, "the connection was renewed")

    def sealed(self) -> tuple[int, bytes]:
        hold = self._hold()
        return hold.row if hold is not None and hold.row is not None else head_of(self._execute(_HEAD, self.ledger), self.where)

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        hold = self._hold()
        staged = [] if hold is None else [each for each in hold.staged if each[0] >= start]
        if hold is not None and hold.new is not None and start >= hold.start > 0:
            chunks: Iterator[list[tuple[int, str]]] = iter([[each for each in hold.new if each[0] >= start]])
        elif staged and staged[0][0] == start:
            chunks = iter(())
        else:
            chunks = self._chunks(start if start else -(2**63))
        for chunk in (*chunks, staged) if staged else chunks:
            for place, entry in chunk:
                yield place, entry.encode()

    def _chunks(self, start: int) -> Iterator[list[tuple[int, str]]]:
        for rows in growing_chunks():
            found = self._execute(_READ, self.ledger, start, rows)
            yield [(place, entry) for place, entry in found]
            if len(found) < rows:
                return
            start = found[-1][0] + 1

    def write(self, place: int, entry: bytes, root: bytes) -> None:
        """Kept until the end of the transaction, which sends everything at once."""
        hold = self._hold()
        assert hold is not None
        hold.staged.append((place, entry.decode("ascii")))
        hold.row = (place + 1, root)

    def head(self) -> tuple[int, bytes] | None:
        """What this process knows to be durable; a database keeps no head apart from its log."""
        return self.durable

    def make_durable(self, size: int) -> None:
        if self.durable is not None and self.durable[0] >= size:
            return
        with self._connections.writing.connection() as connection:
            self.refuse_renewed()  # the server may have forgotten what is to be made durable
            rows = connection.execute(_HEAD, (self.ledger,)).fetchall()
            if not self.readonly:
                self._connections.commits.wait_for_disk(connection)
            self.durable = head_of(rows, self.where)

    def _execute(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        hold = self._hold()
        if hold is not None:
            return hold.connection.execute(query, values).fetchall()
        with self._connections.reading.connection() as connection:
            return connection.execute(query, values).fetchall()

    def note_refusals(self, refused: Refusals) -> None:
        """As far as the server can be reached at once: a refusal waits for nobody."""
        with suppress(Interrupted, LedgerUnavailable), self._connections.reading.connection(patience=1) as connection:
            count_refusals(connection, self.ledger, refused)

    def refusals(self) -> list[Refusals]:
        with self._connections.reading.connection() as connection:
            return counted_refusals(connection, self.ledger)

    def certificate_holder(self, digest: str, identity: str, *, bind: bool) -> str | None:
        """The ledger of this database that a certificate is bound to; ``bind``: from now on this one, if it was to none."""
        with self._connections.reading.connection() as connection:
            if bind and not self.readonly:
                bind_certificate(connection, digest, identity)
            return bound_ledger(connection, digest)

    def close(self) -> None:
        self._connections.release()


def head_of(rows: list[tuple[Any, ...]], where: str) -> tuple[int, bytes]:
    try:
        ((size, root),) = rows
        return int(size), bytes.fromhex(root)
    except (TypeError, ValueError):
        raise TamperedLedger(where, "the sealed head is damaged or gone") from None
