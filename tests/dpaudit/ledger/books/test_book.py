"""The quick replay of a whole ledger gives what looking at its entries one by one gives, verdict included."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import InvalidValue, show
from dpaudit.ledger import Charge, Cohort, PureSums, Release, TamperedLedger, canonical
from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.replay import catch_up, replay
from dpaudit.ledger.records.charge_entries import charge_to_json
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.memory import MemoryEntries

HEADER = first_entry("deployment")

numbers = st.sampled_from(["0", "1", "1/3", "0.5", "2/7", "1e-9"])
ranges = st.tuples(st.integers(0, 6), st.integers(1, 3)).map(lambda pair: [[pair[0], pair[0] + pair[1]]])
cohorts = ranges | st.sampled_from([None, [], [[0, 2], [4, 6]], {"ids": ["a"], "intervals": [[1, 2]]}])


def a_charge(epsilon: str | None, cohort: Any, closed: bool) -> list[dict[str, Any]]:
    """A charge entry, or a release that is both; what follows it in the ledger is up to the caller."""
    release = Release("r", "laplace", Fraction(1), {"scale": "1"}, epsilon=None if epsilon is None else Fraction(epsilon))
    record = {**release.to_json(), "cohort": cohort}
    if closed:
        return [{"entry": "release", "release": record}]
    charge = Charge(release.epsilon, Fraction(0), Cohort.from_json(cohort), "r", {"scale": "1"})
    return [charge_to_json(charge, None)]


def a_budget(epsilon: Fraction) -> dict[str, Any]:
    return {"entry": "budget", "epsilon": show(epsilon), "delta": "0", "filter": "pure-sums"}


steps = st.lists(st.builds(a_charge, numbers | st.just("1"), cohorts, st.booleans()), max_size=12)


def one_by_one(entries: MemoryEntries) -> Book:
    book = Book("here", PureSums())
    catch_up(book, entries)
    return book


def outcome(entries: MemoryEntries, read: Any) -> Any:
    try:
        book = read(entries)
    except TamperedLedger as error:
        return error.reason
    return book.spends.worst(), book.releases, book.unused(), [spend(book, i) for i in range(10)]


def spend(book: Book, record: int) -> Any:
    try:
        return book.spends.would_cost(Charge(Fraction(0), cohort=Cohort.of(record)))
    except InvalidValue:
        return "unknown"


@settings(max_examples=300, deadline=None)
@given(before=steps, after=steps, budget=st.sampled_from([None, "1/3", "1", "2", "100"]))
def test_a_replay_agrees_with_looking_at_every_entry(before: Any, after: Any, budget: str | None) -> None:
    """Budgets set before, in between and after; ledgers within them and over them."""
    limit = [] if budget is None else [[a_budget(Fraction(budget))]]
    listed = [canonical(entry) for part in [*before, *limit, *after] for entry in part]
    entries = MemoryEntries([HEADER, *listed])
    assert outcome(entries, lambda e: replay(e, PureSums)[0]) == outcome(entries, one_by_one)


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(steps, min_size=2, max_size=4), budgets=st.permutations(["1/3", "1", "3/2", "2", "3"]), pure=st.booleans())
def test_a_replay_agrees_under_budgets_that_are_tightened_on_the_way(parts: Any, budgets: list[str], pure: bool) -> None:
    """Each later budget may be below what was spent before it; then it binds those who are charged after it alone."""
    tighter = iter(sorted(budgets[: len(parts)], key=Fraction, reverse=True))
    listed = [] if pure else a_charge(None, [[8, 9]], True)
    for part in parts:
        listed += [entry for entries in part for entry in entries] + [a_budget(Fraction(next(tighter)))]
    entries = MemoryEntries([HEADER, *map(canonical, listed)])
    assert outcome(entries, lambda e: replay(e, PureSums)[0]) == outcome(entries, one_by_one)


def test_a_budget_below_what_was_spent_binds_those_who_are_charged_after_it() -> None:
    """Both verdicts, in one pass: the strict reading is asked for the place of a charge over the budget only."""
    old, other, again = (canonical(a_charge("1", cohort, True)[0]) for cohort in ([[0, 5]], [[5, 9]], [[4, 6]]))
    budget = canonical(a_budget(Fraction(1)))
    book, _ = replay(MemoryEntries([HEADER, old, old, budget, other]), PureSums)
    assert book.spends.worst() == (2, 0)
    lenient = Book("here", PureSums(), lenient=True)
    catch_up(lenient, MemoryEntries([HEADER, old, old, budget, other]))
    assert lenient.within_budget()
    with pytest.raises(TamperedLedger, match="entry 4"):
        replay(MemoryEntries([HEADER, old, old, budget, again]), PureSums)


def test_both_outcomes_occur() -> None:
    """The twin: a charge over the budget is seen by both readers, and neither sees one that was spent before it."""
    charge = canonical(a_charge("1", [[0, 5]], True)[0])
    budget = canonical(a_budget(Fraction(1)))
    over = MemoryEntries([HEADER, budget, charge, charge])
    late = MemoryEntries([HEADER, charge, charge, budget])
    for read in (one_by_one, lambda e: replay(e, PureSums)[0]):
        with pytest.raises(TamperedLedger, match="entry 3"):
            read(over)
        assert read(late).spends.worst()[0] == 2


def test_neighbouring_batches_are_added_as_one_piece_and_still_refuse_an_overlap() -> None:
    batches = [canonical(a_charge("1", [[10 * i, 10 * i + 10]], True)[0]) for i in range(100)]
    budget = canonical(a_budget(Fraction(1)))
    book, _ = replay(MemoryEntries([HEADER, budget, *batches]), PureSums)
    assert book.spends.worst() == (1, 0)
    overlapping = canonical(a_charge("1", [[999, 1001]], True)[0])
    with pytest.raises(TamperedLedger, match="entry 102"):
        replay(MemoryEntries([HEADER, budget, *batches, overlapping]), PureSums)


def test_an_unknown_epsilon_under_a_budget_is_reported_by_the_quick_replay() -> None:
    unknown = canonical(a_charge(None, None, True)[0])
    assert replay(MemoryEntries([HEADER, unknown]), PureSums)[0].releases == 1
    with pytest.raises(TamperedLedger, match="entry 2"):
        replay(MemoryEntries([HEADER, canonical(a_budget(Fraction(1))), unknown]), PureSums)


@pytest.mark.parametrize(
    "cohort", [[[]], [[10]], [[10, 5]], [[10, 20.0]], [[True, 20]], [[10, "20"]], [[10, 2**63]], [10], 7, "x", [None]]
)
def test_a_cohort_that_no_ledger_writes_is_reported_after_a_run_too(cohort: Any) -> None:
    first = canonical(a_charge("1", [[0, 10]], True)[0])
    entry = canonical({"entry": "release", "release": {**a_charge("1", [[10, 20]], True)[0]["release"], "cohort": cohort}})
    with pytest.raises(TamperedLedger, match="entry 2"):
        replay(MemoryEntries([HEADER, first, entry]), PureSums)


@pytest.mark.parametrize(
    "text", [b'{"entry":"budget"} ', b'{"entry":"budget"}{}', b"[]", b"7", b'"entry"', b'{"entry":[]}', b"\xc3\xa9"]
)
def test_an_entry_that_is_not_one_object_is_reported(text: bytes) -> None:
    with pytest.raises(TamperedLedger, match="entry 1"):
        replay(MemoryEntries([HEADER, text]), PureSums)
