"""Addresses of ledgers in PostgreSQL, and what is shown of them."""

from __future__ import annotations

import pytest

from dpaudit.ledger import LedgerUnavailable, UnreadableLedger, open_ledger
from dpaudit.ledger.store.postgres.address import parse_address


@pytest.mark.parametrize(
    ("place", "server", "ledger", "shown"),
    [
        ("postgresql://h/db", "postgresql://h/db", "main", "postgresql://h/db"),
        ("postgresql://u:secret@h:5/db?ledger=a.b", "postgresql://u:secret@h:5/db", "a.b", "postgresql://u@h:5/db?ledger=a.b"),
        (
            "postgresql://h/db?sslmode=require&password=secret&ledger=x",
            "postgresql://h/db?sslmode=require&password=secret",
            "x",
            "postgresql://h/db?sslmode=require&ledger=x",
        ),
    ],
)
def test_the_ledgers_name_is_ours_the_rest_the_servers_and_no_password_is_shown(
    place: str, server: str, ledger: str, shown: str
) -> None:
    found = parse_address(place)
    assert (found.server, found.ledger, found.shown) == (server, ledger, shown)
    assert "secret" not in found.shown


@pytest.mark.parametrize("query", ["ledger=", "ledger=a%20b", "ledger=a&ledger=b", "ledger=" + "x" * 101])
def test_a_name_that_no_ledger_can_have_is_refused_without_the_password(query: str) -> None:
    with pytest.raises(UnreadableLedger, match="takes one name") as caught:
        parse_address(f"postgresql://u:secret@h/db?{query}")
    assert "secret" not in str(caught.value)


@pytest.mark.needs(module="psycopg_pool")
def test_a_server_that_is_not_there_is_said_at_once_and_without_the_password() -> None:
    with pytest.raises(LedgerUnavailable, match="no connection to the server") as caught:
        open_ledger("postgresql://u:secret@127.0.0.1:9/db")
    assert "secret" not in str(caught.value)
