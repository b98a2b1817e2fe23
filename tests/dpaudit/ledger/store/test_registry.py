"""A store of ledgers is one module and one row."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Charge, UnreadableLedger, WrongKind, is_ledger, load_releases, open_ledger, verify
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.memory import MemoryEntries
from dpaudit.ledger.store.registry import STORES, scheme_of


@pytest.mark.parametrize(
    ("place", "scheme"),
    [
        ("a.ledger", "file"),
        ("/a/b.ledger", "file"),
        (Path("x://y"), "file"),
        ("C:\\a", "file"),
        ("postgresql://h/db", "postgresql"),
    ],
)
def test_an_address_names_its_store_and_a_path_is_a_file(place: str | Path, scheme: str) -> None:
    assert scheme_of(place) == scheme


def test_an_address_that_no_store_knows_is_refused_and_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableLedger, match="no store of ledgers for nowhere://"):
        open_ledger("nowhere://host/name")
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_in_memory_has_an_address_and_is_not_read_by_it() -> None:
    with open_ledger("memory://", kind="simulated", budget=1) as ledger:
        ledger.charge(Charge(Fraction(1)))
        with pytest.raises(BudgetExceeded):
            ledger.charge(Charge(Fraction(1, 10)))
    with pytest.raises(UnreadableLedger, match="in memory"):
        open_ledger("memory://", readonly=True)


def test_a_toy_store_needs_its_module_and_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf: dict[str, MemoryEntries] = {}

    def open_entries(place: str, first: Callable[[], bytes] | None) -> EntryStore:
        if place not in shelf:
            if first is None:
                raise UnreadableLedger(place, "nothing is there")
            shelf[place] = MemoryEntries([first()])
        return shelf[place]

    toy = ModuleType("toy_store")
    toy.open_entries = open_entries  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy_store", toy)
    with pytest.raises(UnreadableLedger):  # the twin: without its row
        open_ledger("shelf://one")
    monkeypatch.setitem(STORES, "shelf", "toy_store")
    with pytest.raises(UnreadableLedger, match="nothing is there"):
        open_ledger("shelf://one", readonly=True)
    with open_ledger("shelf://one", budget="1") as ledger:
        ledger.charge(Charge(Fraction(1)))
    with open_ledger("shelf://one") as again, pytest.raises(BudgetExceeded):
        again.charge(Charge(Fraction(1, 10)))
    with pytest.raises(WrongKind):
        open_ledger("shelf://one", kind="simulated")
    assert is_ledger("shelf://one")
    assert load_releases("shelf://one") == []
    assert verify("shelf://one").size == 3
