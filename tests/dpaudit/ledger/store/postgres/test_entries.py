"""One budget for a fleet: never overspent, nothing acknowledged lost, while the server is killed and connections are cut."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import psycopg
import pytest

import dpaudit as dp
from benchmarks import fleets
from dpaudit.claims import BudgetExceeded, InvalidValue
from dpaudit.ledger import Charge, LedgerUnavailable, Release, TamperedLedger, load_releases, open_ledger, verify

pytestmark = [pytest.mark.slow, pytest.mark.needs(module="psycopg_pool")]


def a_release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1))


def place(server: Any, name: str, port: int | None = None) -> str:
    address: str = server.address
    return f"{address.replace(str(server.port), str(port or server.port))}?ledger={name}"


def held_to(server: Any, name: str, fleet: Any, budget: int) -> None:
    """Everything that was acknowledged is there once, and the budget was kept."""
    names = [release.name for release in load_releases(place(server, name))]
    assert len(names) == len(set(names))
    assert set(fleet.acknowledged) <= set(names)
    with open_ledger(place(server, name)) as ledger:
        assert ledger.spent()[0] == len(names) <= budget
    assert verify(place(server, name)).releases == len(names)


def test_the_door_works_as_on_a_file(postgres: Any) -> None:
    with open_ledger(place(postgres, "door"), budget="2") as ledger, dp.live(ledger) as channel:
        first = channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2, key="a")
        assert channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2, key="a") == first
        channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)
        with pytest.raises(BudgetExceeded):
            channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)
        with pytest.raises(InvalidValue, match="taken"):
            channel.release("other", 1.0, dp.Laplace(scale=2), sensitivity=2, key="a")
    assert dp.account(place(postgres, "door")).epsilon == 2
    with open_ledger(place(postgres, "door"), readonly=True) as ledger, pytest.raises(LedgerUnavailable, match="reading only"):
        ledger.append(a_release("x"))


def test_thirty_two_clients_never_overspend_one_budget(postgres: Any) -> None:
    open_ledger(place(postgres, "race"), budget="150").close()
    fleet = fleets.spend([place(postgres, "race")], clients=32, attempts=8)
    assert len(fleet.acknowledged) == 150
    assert fleet.batch > 1
    held_to(postgres, "race", fleet, 150)


def test_looking_first_overspends(postgres: Any) -> None:
    """The twin: the same store, without the budget that is held inside the transaction."""
    assert fleets.naive(place(postgres, "naive")) == 2


def grown(server: Any, name: str, size: int) -> int:
    """Wait until the ledger has so many entries; returns how many there are then."""
    with psycopg.connect(server.address, autocommit=True) as connection:
        for _ in range(2000):
            (found,) = connection.execute("SELECT size FROM dpaudit.ledgers WHERE name = %s", (name,)).fetchone() or (0,)
            if found >= size:
                return int(found)
            time.sleep(0.005)
    raise AssertionError(f"{found} of {size}")


def test_a_server_that_is_killed_in_the_middle_loses_nothing_that_was_acknowledged(postgres: Any) -> None:
    seen = []

    def kill() -> None:
        seen.append(grown(postgres, "killed", 100))
        postgres.kill()
        postgres.start()

    open_ledger(place(postgres, "killed"), budget="800").close()
    fleet = fleets.spend([place(postgres, "killed")], clients=32, attempts=30, disturb=kill)
    assert seen[0] < 800  # it was killed in the middle
    held_to(postgres, "killed", fleet, 800)
    assert len(fleet.acknowledged) == 800  # each was asked again under its key until it was there


def test_connections_that_are_cut_in_the_middle_lose_and_double_nothing(
    postgres: Any, benchmark_module: Callable[[str], ModuleType]
) -> None:
    proxy = benchmark_module("postgres_server").Proxy(postgres.port)
    cuts = []

    def cut() -> None:
        for size in range(100, 700, 100):
            grown(postgres, "cut", size)
            cuts.append(proxy.cut())

    open_ledger(place(postgres, "cut"), budget="800").close()
    fleet = fleets.spend([place(postgres, "cut", proxy.port)], clients=32, attempts=30, disturb=cut)
    proxy.close()
    assert min(cuts) > 0
    held_to(postgres, "cut", fleet, 800)
    assert len(fleet.acknowledged) == 800


def test_equal_charges_without_keys_are_told_apart_by_their_token(postgres: Any) -> None:
    """The commit of one is lost on the way; another client's equal entry stands in its place."""
    one = open_ledger(place(postgres, "token"), budget="2")
    two = open_ledger(f"{place(postgres, 'token')}&application_name=another")  # so that they share no connection
    charge = Charge(Fraction(1))
    link = one._entries._connections.writing  # type: ignore[attr-defined]
    really, lost = link.connection, []

    def lose_once() -> Any:
        if not lost:
            lost.append(1)
            with really() as connection:
                connection.close()  # before anything is sent
        return really()

    link.connection = lose_once
    two.charge(charge)
    one.charge(charge)
    assert one.spent()[0] == two.spent()[0] == 2
    for ledger in (one, two):
        with pytest.raises(BudgetExceeded):
            ledger.charge(charge)
        ledger.close()


def test_changed_rows_are_reported_and_the_tables_refuse_to_change_them(postgres: Any) -> None:
    with open_ledger(place(postgres, "rows"), budget="9") as ledger:
        ledger.append(a_release("a"))
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
            connection.execute("UPDATE dpaudit.entries SET entry = '{}' WHERE place = 2")
        connection.execute("ALTER TABLE dpaudit.entries DISABLE TRIGGER append_only")
        connection.execute(
            "DELETE FROM dpaudit.entries USING dpaudit.ledgers l WHERE ledger = l.id AND l.name = 'rows' AND place = 2"
        )
        connection.execute("ALTER TABLE dpaudit.entries ENABLE TRIGGER append_only")
    for attempt in (verify, open_ledger, dp.account):
        with pytest.raises(TamperedLedger, match="DPA007"):
            attempt(place(postgres, "rows"))  # type: ignore[operator]
