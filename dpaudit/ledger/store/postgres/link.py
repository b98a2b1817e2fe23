"""One connection to a server that may go away: a pool of one, which connects again, and says when it did."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from dpaudit.ledger.errors import Interrupted, LedgerUnavailable, UnreadableLedger
from dpaudit.ledger.store.postgres.address import Address

PATIENCE = 30.0  # seconds for a server that restarts
_SETTINGS = {
    "application_name": "dpaudit",
    "client_encoding": "UTF8",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "tcp_user_timeout": 10_000,
}
_SESSION = "SET synchronous_commit = off; SET lock_timeout = '60s'; SET idle_in_transaction_session_timeout = '20s'"
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # lost connections are said by our own errors
_WEAK = ("off", "local", "remote_write")  # less than "on the disk, here and on the standbys that are asked for"


class Link:
    """``connected`` counts connections: a new one may lead to a server that lost what was not durable."""

    def __init__(self, address: Address) -> None:
        self.where, self._process = address.database, os.getpid()
        self.connected, self.level = 0, "on"
        self._refusal: LedgerUnavailable | None = None
        pool = ConnectionPool(
            address.server, min_size=1, max_size=1, num_workers=1, timeout=PATIENCE, reconnect_timeout=PATIENCE, open=False,
            kwargs={**_SETTINGS, "autocommit": True}, configure=self._configure, name="dpaudit",
        )  # fmt: skip
        self._pool: ConnectionPool[psycopg.Connection[Any]] = pool
        self._try_once(address)
        try:
            pool.open(wait=True, timeout=PATIENCE)  # connected once: whoever counts renewals starts from here
        except PoolTimeout:
            raise self._not_reached() from None

    def _try_once(self, address: Address) -> None:
        """A wrong address or password is said at once; the pool would try it again and again."""
        try:
            with psycopg.connect(address.server, autocommit=True, **_SETTINGS) as connection:
                self._check(connection)
        except psycopg.ProgrammingError:
            raise UnreadableLedger(self.where, "not an address of PostgreSQL: postgresql://user@host:port/database") from None
        except psycopg.OperationalError as error:
            raise LedgerUnavailable(self.where, f"no connection to the server: {_reason(error)}") from None

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        row = connection.execute("SELECT current_setting('synchronous_commit'), current_setting('fsync')").fetchone()
        level, fsync = row if row is not None else ("on", "off")
        if fsync != "on":
            raise LedgerUnavailable(self.where, "the server runs with fsync = off, so that it may lose what it acknowledged")
        self.level = "on" if level in _WEAK else level

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        self._check(connection)
        connection.execute(_SESSION)
        self.connected += 1

    @contextmanager
    def connection(self, patience: float = PATIENCE) -> Iterator[psycopg.Connection[Any]]:
        """Raises Interrupted when the connection is lost meanwhile, LedgerUnavailable when the server refuses, or is not reached
        within ``patience`` seconds."""
        if os.getpid() != self._process:
            raise LedgerUnavailable(self.where, "opened before a fork; open it again in the new process")
        found: psycopg.Connection[Any] | None = None
        try:
            with self._pool.connection(timeout=patience) as found:
                yield found
        except PoolTimeout:
            raise self._not_reached() from None
        except (psycopg.errors.RaiseException, psycopg.errors.IntegrityError):
            raise LedgerUnavailable(self.where, "somebody else writes to its tables; nothing was granted") from None
        except psycopg.Error as error:
            if found is None or found.closed:
                raise Interrupted(self.where, "the connection was lost") from None
            raise LedgerUnavailable(self.where, f"the server refused: {_reason(error)}; nothing was granted") from None

    def _not_reached(self) -> LedgerUnavailable:
        return LedgerUnavailable(self.where, f"the server was not reached for {PATIENCE:.0f} seconds; try again")

    def close(self) -> None:
        if os.getpid() == self._process:
            self._pool.close()


def _reason(error: psycopg.Error) -> str:
    """The server's own words in one line; they name no value that was sent."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    told = error.diag.message_primary or lines[0]
    return told[:200]
