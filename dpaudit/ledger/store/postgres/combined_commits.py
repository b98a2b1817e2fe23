"""One transaction for everything that the threads of a process ask of their ledgers in one database meanwhile.

It takes two round trips. The first locks the rows of the ledgers, in the order of their ids, and reads what others wrote since.
Each ledger then decides by itself; one that fails writes nothing and disturbs no other. The second sends all entries, commits
without waiting for the disk (synchronous_commit=off), so that the rows are free again at once, and commits once more and waits:
PostgreSQL syncs its log for all who wait together. The log is one sequence: what is durable includes everything before it.

- Server killed before that second commit: the end of the log may be gone, never acknowledged. Every connection is lost with it,
  and ``Interrupted`` makes the ledgers read again; what this process knows to be durable must still be there.
- Connection lost around a commit: did it happen? Each transaction writes a random token beside its entries. ``_happened`` waits
  for the row, so that the lost transaction has ended one way or the other, and looks for the token, which no equal entry has.
- A charge is durable before its noise is drawn (``remote``): the server may forget while this process lives on.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg

from dpaudit.ledger.errors import Interrupted, LedgerUnavailable, TamperedLedger
from dpaudit.ledger.store.commit_queue import CommitQueue, Request, error_for_another
from dpaudit.ledger.store.postgres.link import PATIENCE, Link

if TYPE_CHECKING:
    from dpaudit.ledger.store.postgres.entries import Hold, PostgresEntries

LINGER = 0.001  # seconds, a third of a sync: half changes little, twice delays whoever asks alone after a busy time
_MOST_NEW = 4096  # entries read with the rows; where there are more, each ledger reads its own
_LOCK = """BEGIN; SELECT id, size, root FROM dpaudit.ledgers WHERE id = ANY('{{{ids}}}') ORDER BY id FOR UPDATE;
SELECT e.ledger, e.place, e.entry FROM unnest('{{{ids}}}'::bigint[], '{{{sizes}}}'::bigint[]) AS known(id, size)
JOIN dpaudit.entries e ON e.ledger = known.id AND e.place >= known.size ORDER BY 1, 2 LIMIT {most}"""
_WRITE = """
WITH put AS (INSERT INTO dpaudit.entries (ledger, place, entry, token)
    SELECT ledger, place, entry, %s FROM unnest(%b::bigint[], %b::bigint[], %b::text[]) AS new(ledger, place, entry))
UPDATE dpaudit.ledgers SET size = head.size, root = head.root
    FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS head(ledger, size, root) WHERE id = head.ledger
"""
_DURABLE = "SELECT set_config('synchronous_commit', %s, true), pg_logical_emit_message(true, 'dpaudit', '')"

Turn = dict["PostgresEntries", list[Request]]


@dataclass
class Attempt:
    """A transaction that can be found again. ``sent``: ledger and place of one of its entries, once it may have happened."""

    token: uuid.UUID = field(default_factory=uuid.uuid4)
    sent: tuple[int, int] | None = None


class CombinedCommits:
    """``queue``: where the ledgers of one process wait. ``link``: the connection that their transactions take turns on."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.queue = CommitQueue(self._commit, LINGER)

    def _commit(self, requests: list[Request]) -> None:
        waiting: Turn = {}
        for request in requests:
            waiting.setdefault(request.owner, []).append(request)
        while waiting:
            first: dict[int, PostgresEntries] = {}  # a ledger that is opened twice takes two turns
            for entries in waiting:
                first.setdefault(entries.ledger, entries)
            turn = {entries: waiting.pop(entries) for _, entries in sorted(first.items())}
            with ExitStack() as locks:
                for entries in turn:
                    locks.enter_context(entries.member.lock)
                self._settle(turn)
            for request in (each for requests in turn.values() for each in requests):
                request.done = True

    def _settle(self, turn: Turn) -> None:
        """Until it has happened; where the connection was lost, it is looked up, and done again if it did not."""
        until, attempt = time.monotonic() + 2 * PATIENCE, Attempt()
        while turn:
            try:
                if self._happened(attempt):
                    with self._link.connection() as connection:
                        self.wait_for_disk(connection)
                    return
                attempt = Attempt()
                _each(turn, lambda entries, _: entries.member.prepare())
                if not self._transact(turn, attempt):
                    _each(turn, lambda entries, _: entries.member.prepare(much=True))
                    self._transact(turn, attempt, much=True)
                return
            except Interrupted:
                for entries in turn:
                    entries.member.settle(committed=False)
                if time.monotonic() > until:
                    reason = "the server does not answer; what was asked may be charged: ask again with its key"
                    raise LedgerUnavailable(self._link.where, reason) from None

    def _transact(self, turn: Turn, attempt: Attempt, much: bool = False) -> bool:
        """False, and nothing was done, where others wrote so much that it is to be read before the rows are locked."""
        with self._link.connection() as connection, _rolled_back(connection):
            _refuse_renewed(turn)
            holds = self._lock(connection, turn)
            if not much and any(hold.new is None for hold in holds.values()):
                connection.execute("COMMIT")
                return False

            def run(entries: PostgresEntries, requests: list[Request]) -> None:
                with entries.holding(_held(holds, entries)):
                    entries.member.run(requests)

            _each(turn, run)
            self._send(connection, attempt, {entries: holds[entries.ledger] for entries in turn}, _waits(turn, holds))
            return True

    def _lock(self, connection: psycopg.Connection[Any], turn: Turn) -> dict[int, Hold]:
        """What the transaction holds, by ledger; a row that is gone is missing."""
        from dpaudit.ledger.store.postgres.entries import Hold, head_of

        sizes = {entries.ledger: entries.member.size() for entries in turn}
        ids, known = (",".join(map(str, numbers)) for numbers in (sizes, sizes.values()))
        cursor = connection.execute(_LOCK.format(ids=ids, sizes=known, most=_MOST_NEW).encode())
        cursor.nextset()
        rows = cursor.fetchall()
        cursor.nextset()
        new = cursor.fetchall()
        whole = len(new) < _MOST_NEW
        owners = {entries.ledger: entries for entries in turn}
        holds = {
            ledger: Hold(connection, head_of([(size, root)], owners[ledger].where), sizes[ledger], [] if whole else None)
            for ledger, size, root in rows
        }
        for ledger, place, entry in new if whole else ():
            if ledger in holds:
                holds[ledger].new.append((place, entry))  # type: ignore[union-attr]
        return holds

    @contextmanager
    def alone(self, entries: PostgresEntries) -> Iterator[None]:
        """A transaction of one ledger beside the queue, for whoever writes its entries without a ``Ledger``."""
        from dpaudit.ledger.store.postgres.entries import Hold, head_of

        with self._link.connection() as connection, _rolled_back(connection):
            entries.refuse_renewed()
            connection.execute("BEGIN")
            rows = connection.execute("SELECT size, root FROM dpaudit.ledgers WHERE id = %s FOR UPDATE", (entries.ledger,))
            hold = Hold(connection, head_of(rows.fetchall(), entries.where))
            with entries.holding(hold):
                yield
            self._write(connection, Attempt(), {entries: hold}, waits=True)

    def _send(
        self, connection: psycopg.Connection[Any], attempt: Attempt, holds: dict[PostgresEntries, Hold], waits: bool
    ) -> None:
        self._write(connection, attempt, holds, waits)
        for entries in holds:
            entries.member.settle(committed=True)

    def _write(
        self, connection: psycopg.Connection[Any], attempt: Attempt, holds: dict[PostgresEntries, Hold], waits: bool
    ) -> None:
        put = [(entries.ledger, place, entry) for entries, hold in holds.items() for place, entry in hold.staged]
        heads = [(entries.ledger, hold.row[0], hold.row[1].hex()) for entries, hold in holds.items() if hold.staged and hold.row]
        with connection.pipeline():
            if put:
                connection.execute(_WRITE, (attempt.token, *_columns(put), *_columns(heads)))
                attempt.sent = put[-1][:2]
            connection.execute("COMMIT")
            if waits:
                self.wait_for_disk(connection)
        for entries, hold in holds.items():
            entries.durable = hold.row if waits else entries.durable

    def wait_for_disk(self, connection: psycopg.Connection[Any]) -> None:
        """A commit that waits: everything before it is durable then."""
        connection.execute(_DURABLE, (self._link.level,))

    def _happened(self, attempt: Attempt) -> bool:
        if attempt.sent is None:
            return False
        ledger, place = attempt.sent
        with self._link.connection() as connection, connection.transaction():
            connection.execute("SELECT 1 FROM dpaudit.ledgers WHERE id = %s FOR UPDATE", (ledger,))
            query = "SELECT token FROM dpaudit.entries WHERE ledger = %s AND place = %s"
            row = connection.execute(query, (ledger, place)).fetchone()
            return row is not None and row[0] == attempt.token


def _each(turn: Turn, work: Any) -> None:
    """For every ledger; one that fails leaves the turn, with its requests told why."""
    for entries, requests in list(turn.items()):
        try:
            work(entries, requests)
        except (psycopg.Error, LedgerUnavailable):
            raise  # the server, for all of them
        except Exception as error:
            del turn[entries]
            entries.member.settle(committed=False)
            for request in requests:
                request.error, request.done = request.error or error_for_another(error), True


def _refuse_renewed(turn: Iterable[PostgresEntries]) -> None:
    renewed: Interrupted | None = None
    for entries in turn:
        try:
            entries.refuse_renewed()
        except Interrupted as error:
            renewed = error
    if renewed is not None:
        raise renewed


def _held(holds: dict[int, Hold], entries: PostgresEntries) -> Hold:
    if entries.ledger not in holds:
        raise TamperedLedger(entries.where, "the sealed head is damaged or gone")
    return holds[entries.ledger]


def _waits(turn: Turn, holds: dict[int, Hold]) -> bool:
    """Is there anything that is not on disk, and somebody who is told of it?"""
    for entries, requests in turn.items():
        row, known = holds[entries.ledger].row, entries.durable
        if (known is None or row is None or row[0] > known[0]) and any(request.durable for request in requests):
            return True
    return False


def _columns(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


@contextmanager
def _rolled_back(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """After an error, nothing of the transaction is left on the connection."""
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")
        raise
