"""Refusals are counted for ledgers in a database too, by every host, and shown where those of files are."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.commands.ledgers.serve import budget_metrics
from dpaudit.ledger import open_ledger
from dpaudit.ledger.opening import read_refusals
from dpaudit.ledger.store.postgres.migrations import MIGRATIONS, migrate
from dpaudit.ledger.store.refusals import Refusals

pytestmark = [pytest.mark.slow, pytest.mark.needs(module="psycopg_pool")]


def ask_in_vain(place: str, times: int) -> None:
    with open_ledger(place, budget="1") as ledger, dp.live(ledger) as channel:
        for _ in range(times):
            with pytest.raises(dp.BudgetExceeded):
                channel.release("sum", 1.0, dp.Laplace(scale=1), sensitivity=2)


def test_every_host_adds_to_the_counts_of_an_hour(postgres: Any, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{postgres.address}?ledger=refused"
    for times in (3, 4):
        ask_in_vain(place, times)
    assert sum(each.count for each in read_refusals(place)) == 7
    assert {each.reason for each in read_refusals(place)} == {"budget"}
    assert 'dpaudit_refusals_total{reason="budget"} 7' in budget_metrics(place)
    with open_ledger(place, readonly=True) as ledger:
        assert sum(each.count for each in ledger.refusals()) == 7
        assert ledger.spent()[0] == 0
    assert main(["account", place, "--format", "html"]) == 0
    assert "refused" in capsys.readouterr().out.lower()
    assert read_refusals(f"{postgres.address}?ledger=refused") == read_refusals(place)


def test_counts_of_other_ledgers_are_others(postgres: Any) -> None:
    ask_in_vain(f"{postgres.address}?ledger=mine", 2)
    open_ledger(f"{postgres.address}?ledger=yours", budget="1").close()
    assert read_refusals(f"{postgres.address}?ledger=yours") == []


def test_tables_from_before_are_read_without_counts(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS earlier")
        connection.execute("CREATE DATABASE earlier")
    place = postgres.address.replace("/postgres", "/earlier")
    with monkeypatch.context() as before, psycopg.connect(place, autocommit=True) as connection:
        before.setattr("dpaudit.ledger.store.postgres.migrations.MIGRATIONS", MIGRATIONS[:2])
        migrate(connection, place)
        open_ledger(place, budget="1").close()
    with open_ledger(place, readonly=True) as ledger:
        assert ledger.refusals() == []
        assert ledger.certificate_holder("digest", bind=True) is None  # for reading only: nothing is bound
    open_ledger(place).close()
    with open_ledger(place) as ledger:
        assert ledger.certificate_holder("digest", bind=False) is None
        assert ledger.certificate_holder("digest", bind=True) == ledger.identity


def test_a_server_that_is_gone_changes_no_refusal(postgres: Any) -> None:
    with open_ledger(f"{postgres.address}?ledger=gone", budget="1") as ledger:
        postgres.kill()
        try:
            ledger._entries.note_refusals(Refusals("2026-01-31T09", "budget", 1))  # type: ignore[attr-defined]
        finally:
            postgres.start()
        assert ledger.refusals() == []  # the count is lost, and nothing was raised
