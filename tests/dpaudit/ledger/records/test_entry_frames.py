"""Entries read by their frame give what reading them in full gives, also when somebody has changed them."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.ledger import Charge, Cohort, PureSums, Release, TamperedLedger, canonical
from dpaudit.ledger.books import book as book_module
from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.records.charge_entries import charge_to_json
from dpaudit.ledger.records.entry_frames import as_cohort, split
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.memory import MemoryEntries

HEADER = first_entry("deployment")
COHORTS: list[Any] = [range(5), [7], None, "p1", ["p1", "p2"], [1, 3], [], range(-4, 3)]


def a_release(i: int, **other: Any) -> Release:
    given: dict[str, Any] = {
        "name": f"batch {i}", "mechanism": "laplace", "sensitivity": Fraction(2), "parameters": {"scale": "2"},
        "epsilon": Fraction(1), "cohort": Cohort.of(COHORTS[i % len(COHORTS)]), "values": [i, -i], "steps": 4,
    }  # fmt: skip
    return Release(**given | other)


def a_ledger() -> list[bytes]:
    """Releases with and without a charge, a key and values, of one frame and of several."""
    entries: list[dict[str, Any]] = []
    for i in range(24):
        release = a_release(i, tags={"0": 3} if i % 5 == 0 else {}, values=None if i == 7 else [i] * (i % 3) if i % 4 else i)
        if i % 2:
            entries.append({"entry": "release", "release": release.to_json(), **({"key": f"k {i}"} if i % 3 else {})})
        else:
            entries.append(charge_to_json(release.charge(), f"c {i}" if i % 3 else None))
            entries.append({"entry": "release", "release": release.to_json(), "charge": len(entries)})
    return [HEADER, *map(canonical, entries)]


def outcome(entries: list[bytes]) -> Any:
    try:
        read, _ = replay(MemoryEntries(entries), PureSums)
    except TamperedLedger as error:
        return error.reason
    return (read.spends.worst(), read.releases, read.unused(), read.stored, read.tree.root(), _spends(read))


def _spends(read: Book) -> Any:
    records: list[Any] = [*range(-5, 10), "p1", "p2", "nobody"]
    return [read.spends.would_cost(Charge(Fraction(0), cohort=Cohort.of(record))) for record in records]


def test_every_part_of_a_frame_is_found_again() -> None:
    found = [split(entry) for entry in a_ledger()]
    assert found[0] is None
    assert sum(parts is not None for parts in found) >= 20
    for entry, parts in zip(a_ledger(), found, strict=True):
        if parts is None:
            continue
        data = json.loads(entry)
        record = data if parts.is_charge else data["release"]
        assert as_cohort(parts.who) == Cohort.from_json(record["cohort"])
        assert (parts.name, parts.key) == (record["name"], data.get("key"))
        assert parts.charge == (None if parts.is_charge else data.get("charge"))


TEXTS = [
    b'"', b"\\", b"\x1b", b"\xff", b"0", b"-", b"1.5", b"1e3", b"true", b"null", b"[", b"]", b"{}", b",", b'"name":"x",',
    b"9" * 30,
]  # fmt: skip


def test_a_changed_entry_is_judged_alike_with_and_without_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 seeded changes behind equal entries: bytes flipped, cut and put in, numbers replaced; both verdicts occur."""
    chooser, entries = random.Random(5), a_ledger()
    changed = []
    for _ in range(500):
        place = chooser.randrange(1, len(entries))
        text, at = bytearray(entries[place]), chooser.randrange(len(entries[place]))
        way = chooser.randrange(3)
        if way == 0:
            text[at] ^= 1 << chooser.randrange(8)
        else:
            text[at : at + chooser.randrange(way, 4)] = chooser.choice(TEXTS)
        changed.append([*entries[:place], bytes(text), *entries[place + 1 :]])
    quick = [outcome(each) for each in [entries, *changed]]
    monkeypatch.setattr(book_module, "split", lambda entry: None)
    full = [outcome(each) for each in [entries, *changed]]
    assert quick == full
    assert quick[0][1] == 24
    refused = sum(isinstance(each, str) for each in quick)
    assert 250 < refused < 500


FORGED = {
    "two cohorts": lambda text: text.replace(b'"cohort":[[0,5]],', b'"cohort":[[90,95]],"cohort":[[0,5]],'),
    "two names": lambda text: text.replace(b'"name":"batch 0"', b'"name":"batch 0","name":"batch 1"'),
    "two values": lambda text: text.replace(b',"values":', b',"values":[1],"values":'),
    "spaces": lambda text: text.replace(b'"to":"server"', b'"to": "server"'),
    "no name": lambda text: text.replace(b'"name":"batch 0"', b'"name":""'),
    "a long number": lambda text: text.replace(b'"values":[0,0]', b'"values":[9223372036854775808]'),
    "an empty range": lambda text: text.replace(b"[[0,5]]", b"[[5,5]]"),
    "minus nothing": lambda text: text.replace(b'"values":[0,0]', b'"values":[-0]'),
    "leading zeros": lambda text: text.replace(b'"values":[0,0]', b'"values":[00]'),
}


@pytest.mark.parametrize("case", FORGED)
def test_an_entry_that_is_not_canonical_is_reported_also_behind_one_of_its_frame(case: str) -> None:
    good = canonical({"entry": "release", "release": a_release(0, steps=None).to_json()})
    bad = FORGED[case](good)
    assert bad != good
    assert outcome([HEADER, good, good])[1] == 2
    for entries in ([HEADER, good, good, bad], [HEADER, bad], [HEADER, bad, bad]):
        assert "is not what a ledger writes" in outcome(entries)


def test_a_line_of_any_length_is_split_in_linear_time() -> None:
    """Work is bounded by its form: no pattern can be retried. A long hostile entry goes through each search once."""
    piece = b',"name":"x","values":[1,1,1,'
    hostile = canonical({"entry": "release", "release": a_release(0).to_json()})[:-2] + piece * 20_000
    assert split(hostile) is None
    assert split(b'{"cohort":null,"delta":' + b',"key":"a","name":"b"' * 20_000) is None
