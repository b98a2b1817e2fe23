"""What a database keeps beside the entries of its ledgers: how many releases were refused, and which ledger a certificate is
bound to. Neither is an entry: whoever may write these tables may change them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dpaudit.ledger.store.refusals import Refusals

if TYPE_CHECKING:
    from psycopg import Connection

_THERE = "SELECT to_regclass('dpaudit.refusals') IS NOT NULL"  # not in tables of a version before these
_COUNT = (
    "INSERT INTO dpaudit.refusals (ledger, hour, reason, count) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (ledger, hour, reason) DO UPDATE SET count = dpaudit.refusals.count + EXCLUDED.count"
)
_COUNTS = "SELECT hour, reason, count FROM dpaudit.refusals WHERE ledger = %s ORDER BY hour, reason"
_BIND = "INSERT INTO dpaudit.certificates (digest, ledger) VALUES (%s, %s) ON CONFLICT (digest) DO NOTHING"
_BOUND = "SELECT ledger FROM dpaudit.certificates WHERE digest = %s"


def count_refusals(connection: Connection[Any], ledger: int, refused: Refusals) -> None:
    connection.execute(_COUNT, (ledger, refused.hour, refused.reason, refused.count))


def counted_refusals(connection: Connection[Any], ledger: int) -> list[Refusals]:
    """One for each hour and reason, in order."""
    if not _are_there(connection):
        return []
    return [Refusals(str(hour), str(reason), int(count)) for hour, reason, count in connection.execute(_COUNTS, (ledger,))]


def bind_certificate(connection: Connection[Any], digest: str, identity: str) -> None:
    """To this ledger, on the server's disk when it returns, unless it is bound to one: of several hosts, one is first."""
    with connection.transaction():
        connection.execute("SET LOCAL synchronous_commit = on")
        connection.execute(_BIND, (digest, identity))


def bound_ledger(connection: Connection[Any], digest: str) -> str | None:
    if not _are_there(connection):
        return None
    return _first(connection.execute(_BOUND, (digest,)))


def _are_there(connection: Connection[Any]) -> bool:
    return _first(connection.execute(_THERE)) is True


def _first(rows: Iterable[tuple[Any, ...]]) -> Any:
    return next((row[0] for row in rows), None)
