"""Ledgers that share a transaction: each decides by itself, and none disturbs another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from typing import Any

import psycopg
import pytest

from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Ledger, Release, TamperedLedger, open_ledger, verify

pytestmark = [pytest.mark.slow, pytest.mark.needs(module="psycopg_pool")]


def a_release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1))


def opened(server: Any, *names: str, budget: str = "1000") -> list[Ledger]:
    return [open_ledger(f"{server.address}?ledger={name}", budget=budget) for name in names]


def together(works: list[Callable[[], Any]]) -> list[Any]:
    """Started at the same moment, so that most share a commit; returns what each returned or raised."""
    ready = threading.Barrier(len(works))

    def one(work: Callable[[], Any]) -> Any:
        ready.wait()
        try:
            return work()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(one, works))


def test_several_ledgers_are_charged_in_one_commit(postgres: Any) -> None:
    ledgers = opened(postgres, "s1", "s2", "s3", "s4")
    queue = ledgers[0]._commits
    assert all(ledger._commits is queue for ledger in ledgers)
    before = queue.commits
    for number in range(20):
        together([partial(ledger.append, a_release(f"r{number}")) for ledger in ledgers])
    assert queue.commits - before < 80
    for ledger in ledgers:
        assert ledger.spent()[0] == 20
        ledger.close()
        assert verify(ledger.where).releases == 20


def test_a_ledger_that_was_tampered_with_fails_alone(postgres: Any) -> None:
    ledgers = opened(postgres, "good", "bad", "fine")
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        connection.execute("UPDATE dpaudit.ledgers SET root = repeat('00', 32) WHERE name = 'bad'")
    for number in range(3):
        good, bad, fine = together([partial(ledger.append, a_release(f"r{number}")) for ledger in ledgers])
        assert isinstance(good, Release)
        assert isinstance(fine, Release)
        assert isinstance(bad, TamperedLedger)
    assert [ledgers[place].spent()[0] for place in (0, 2)] == [3, 3]
    for ledger in ledgers:
        ledger.close()


def test_a_ledger_that_is_opened_twice_in_one_process_has_one_budget(postgres: Any) -> None:
    ledgers = opened(postgres, "twice", "twice", "twice", budget="10")
    answers = [
        answer
        for number in range(8)
        for answer in together([partial(ledger.append, a_release(f"r{number}")) for ledger in ledgers])
    ]
    assert sum(isinstance(answer, Release) for answer in answers) == 10
    assert sum(isinstance(answer, BudgetExceeded) for answer in answers) == 14
    for ledger in ledgers:
        assert ledger.spent()[0] == 10
        ledger.close()


def test_what_others_wrote_is_read_before_the_rows_are_locked_where_it_is_much(
    postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpaudit.ledger.store.postgres.combined_commits._MOST_NEW", 4)
    one, other = opened(postgres, "much", "much", budget="21")
    for number in range(20):
        one.append(a_release(f"r{number}"))
    other.append(a_release("last"))
    for ledger in (one, other):
        with pytest.raises(BudgetExceeded):
            ledger.append(a_release("more"))
        ledger.close()


def test_a_ledger_that_stores_as_it_closes_does_not_wait_for_who_waits_for_it(postgres: Any) -> None:
    closing, busy = opened(postgres, "closing", "busy")
    closing.at_close(lambda: [closing.append(a_release(f"c{number}")) for number in range(30)])
    together([closing.close, *[lambda: [busy.append(a_release("b")) for _ in range(30)] for _ in range(3)]])
    assert busy.spent()[0] == 90
    busy.close()
    assert verify(closing.where).releases == 30
