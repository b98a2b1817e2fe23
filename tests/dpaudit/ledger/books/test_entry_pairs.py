"""Pairs of a charge and its release are read quickly: with the same outcome as entry by entry, whatever was changed in them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpaudit.ledger import Cohort, PureSums, Release, TamperedLedger, canonical
from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.release_table import ReleaseTable
from dpaudit.ledger.records.entry_texts import charge_text, release_text
from dpaudit.ledger.store.ledger import first_entry

HEADER = first_entry("deployment")
MOVED = canonical({"entry": "moved", "to": "elsewhere"})

names = st.sampled_from(["a", "b", "with space", 'quo"te', "ü", ""])
cohorts = st.sampled_from([None, range(2), range(3, 4), range(-2, 9), [1, 5], "p1", ["p1", 4]])


def a_release(name: str, cohort: Any, epsilon: int, value: Any) -> Release:
    facts: dict[str, Any] = {"steps": 4, "coordinates": 1}
    return Release(
        name, "laplace", Fraction(2), {"scale": "2"}, epsilon=Fraction(epsilon), cohort=Cohort.of(cohort), values=value, **facts
    )


def written(steps: list[tuple[Any, ...]]) -> list[bytes]:
    """What a door writes for these: (name, cohort, ε, value, whether another charge comes between)."""
    entries = [HEADER]
    for name, cohort, epsilon, value, between in steps:
        release = a_release(name or "x", cohort, epsilon, value)
        place = len(entries)
        entries.append(charge_text(release.charge(), None))
        if between:
            entries.append(charge_text(release.charge(), None))
        entries.append(release_text(release, place))
    return entries


class SlowBook(Book):
    """One that knows no pairs."""

    def _learn(self, *facts: Any) -> None:
        return None


def outcome(kind: type[Book], entries: list[bytes], lenient: bool) -> Any:
    book, read = kind("here", PureSums(), lenient, ReleaseTable()), 0
    try:
        for entry in entries:
            book.apply(entry)
            read += 1
    except TamperedLedger as error:
        return read, error.reason
    assert book.table is not None
    book.settle()
    rows = [release.to_json() for release in book.table.releases()]
    return read, book.tree.root(), book.releases, book.unused(), book.spends.worst(), rows


steps = st.tuples(names, cohorts, st.integers(1, 2), st.sampled_from([0, -7, [1, 2], [], list(range(70))]), st.booleans())


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=12), st.booleans())
@example([("a", range(2), 1, 0, False)] * 4, True)
def test_pairs_are_read_as_their_entries_are(done: list[Any], lenient: bool) -> None:
    assert outcome(Book, written(done), lenient) == outcome(SlowBook, written(done), lenient)


def test_the_quick_way_is_taken_from_the_third_pair_on() -> None:
    book = Book("here", PureSums())
    entries = written([("a", range(2), 1, 0, False)] * 3)
    for entry in entries[:-2]:
        book.apply(entry)
    assert book._pairs
    assert book._awaited is None
    book.apply(entries[-2])
    assert book._awaited is not None
    assert not book.open_charges
    book.apply(entries[-1])
    assert book._awaited is None
    assert book.releases == 3


@settings(max_examples=300, deadline=None)
@given(st.integers(5, 12), st.integers(0, 10**6), st.integers(1, 255), st.sampled_from(["flip", "cut", "twice", "drop", "swap"]))
def test_a_changed_byte_or_entry_is_refused_where_reading_in_full_refuses_it(which: int, place: int, bits: int, how: str) -> None:
    entries = written([("a", range(i, i + 2), 1, i, False) for i in range(6)])
    entry = entries[which]
    place %= len(entry)
    if how == "flip":
        entries[which] = entry[:place] + bytes([entry[place] ^ bits]) + entry[place + 1 :]
    elif how == "cut":
        entries[which] = entry[:place]
    elif how == "twice":
        entries.insert(which, entry)
    elif how == "drop":
        del entries[which]
    else:
        entries[which], entries[which - 1] = entries[which - 1], entries[which]
    assert outcome(Book, entries, True) == outcome(SlowBook, entries, True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"cohort":[[0,2]]', b'"cohort":[[2,0]]'),
        (b'"cohort":[[0,2]]', b'"cohort":[[0,2 ]]'),
        (b'"cohort":[[0,2]]', b'"cohort":[[00,2]]'),
        (b'"cohort":[[0,2]]', b'"cohort":[[0,99999999999999999999]]'),
        (b'"name":"a"', b'"name":"b"'),
        (b'"values":0', b'"values":00'),
        (b'"values":0', b'"values":true'),
        (b'"values":0', b'"values":0,"x":1'),
        (b'"charge":', b'"charge":1'),
    ],
)
def test_forms_that_no_ledger_writes_are_refused_in_a_pair_too(before: bytes, after: bytes) -> None:
    entries = written([("a", range(2), 1, 0, False)] * 4)
    for which in (-1, -2):
        changed = list(entries)
        changed[which] = changed[which].replace(before, after, 1)
        if changed[which] != entries[which]:
            assert isinstance(outcome(Book, changed, True)[1], str)
    assert not isinstance(outcome(Book, entries, True)[1], str)  # the twin


def test_nothing_is_read_after_a_move() -> None:
    entries = written([("a", range(2), 1, 0, False)] * 4)
    more = [charge_text(a_release("a", range(2), 1, 0).charge(), None)]
    assert outcome(Book, [*entries, MOVED], True)[0] == len(entries) + 1
    assert outcome(Book, [*entries, MOVED, *more], True) == (
        len(entries) + 1,
        f"entry {len(entries) + 1} is not what a ledger writes there",
    )
