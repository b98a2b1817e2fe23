"""The tables have versions: applied once, by whoever writes first, and never from the future."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from dpaudit.ledger import UnreadableLedger, open_ledger
from dpaudit.ledger.store.postgres.migrations import MIGRATIONS, migrate, version_of

pytestmark = [pytest.mark.slow, pytest.mark.needs(module="psycopg_pool")]


@pytest.fixture
def database(postgres: Any) -> str:
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS fresh")
        connection.execute("CREATE DATABASE fresh")
    address: str = postgres.address
    return address.replace("/postgres", "/fresh")


def test_an_older_database_is_brought_to_the_newest_version_once(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableLedger, match="holds no ledger"):
        open_ledger(database, readonly=True)
    with psycopg.connect(database, autocommit=True) as connection:
        assert version_of(connection) == 0
        monkeypatch.setattr("dpaudit.ledger.store.postgres.migrations.MIGRATIONS", MIGRATIONS[:1])
        migrate(connection, database)
        assert version_of(connection) == 1
        monkeypatch.undo()
        open_ledger(database, budget="1").close()
        assert version_of(connection) == len(MIGRATIONS)
        migrate(connection, database)
        (count,) = connection.execute("SELECT count(*) FROM dpaudit.migrations").fetchone() or (0,)
        assert count == len(MIGRATIONS)


def test_a_database_from_the_future_is_refused(database: str) -> None:
    open_ledger(database).close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO dpaudit.migrations (version) VALUES (99)")
    for readonly in (True, False):
        with pytest.raises(UnreadableLedger, match=r"version 99, this dpaudit knows \d; upgrade it"):
            open_ledger(database, readonly=readonly)
