"""Every store keeps entries alike: what was committed is read back in order, with its sealed head."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.ledger import TamperedLedger
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.ledger import Ledger, first_entry
from dpaudit.ledger.store.merkle import tree_root
from dpaudit.ledger.store.registry import STORES, store_of

PLACES = {"file": "a.ledger", "memory": "memory://"}
SLOW = {"postgresql": [pytest.mark.slow]}


@pytest.fixture(params=[pytest.param(name, marks=SLOW.get(name, [])) for name in sorted(STORES)])
def entries(request: pytest.FixtureRequest, tmp_path: Path) -> EntryStore:
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        return store_of(server.address)(f"{server.address}?ledger={tmp_path.name}", lambda: first_entry("simulated"))
    place = PLACES[request.param]
    return store_of(place)(str(tmp_path / place) if request.param == "file" else place, lambda: first_entry("simulated"))


def test_a_new_place_holds_the_first_entry_and_its_head(entries: EntryStore) -> None:
    ((place, entry),) = entries.read(0)
    assert (place, entries.sealed()) == (0, (1, tree_root([entry])))
    assert not entries.readonly
    entries.close()


def test_what_is_committed_is_read_from_any_place_on(entries: EntryStore) -> None:
    ((_, first),) = entries.read(0)
    written = [first, b'{"a":1}', b'{"b":2}']
    with entries.transaction():
        for place in (1, 2):
            entries.write(place, written[place], tree_root(written[: place + 1]))
    with entries.snapshot():
        assert list(entries.read(0)) == list(enumerate(written))
        assert list(entries.read(2)) == [(2, written[2])]
        assert list(entries.read(3)) == []
        assert entries.sealed() == (3, tree_root(written))
    entries.close()


def test_a_head_that_does_not_fit_the_entries_is_noticed(entries: EntryStore) -> None:
    with entries.transaction():
        entries.write(1, b'{"a":1}', b"\x00" * 32)
    with pytest.raises(TamperedLedger):
        Ledger(entries)
    entries.close()
