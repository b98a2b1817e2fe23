"""Sums over ranges equal sums written out per record, in every order of ranges and for every kind of number."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.ledger.records.cohort import Interval
from dpaudit.ledger.spending.interval_sums import EVERYWHERE, Amounts, Pieces

ranges = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))
amounts = st.builds(Fraction, st.integers(0, 5), st.sampled_from([1, 3, 7, 10**12 + 39]))
added = st.lists(st.tuples(ranges, st.tuples(amounts, amounts)), max_size=90)
asked = st.lists(st.booleans(), max_size=90)


def by_hand(done: list[tuple[Interval, Amounts]], record: int) -> Amounts:
    mine = [amount for (start, stop), amount in done if start <= record < stop]
    return tuple(sum((each[column] for each in mine), Fraction(0)) for column in range(2))


def largest(done: list[tuple[Interval, Amounts]], records: Any) -> Amounts:
    every = [by_hand(done, record) for record in records]
    return tuple(max(each[column] for each in every) for column in range(2))


@settings(max_examples=100, deadline=None)
@given(added, asked, ranges, ranges)
def test_the_largest_sum_is_that_of_the_records_one_by_one(done: Any, questions: Any, first: Interval, second: Interval) -> None:
    """Questions in between leave some ranges merged and some waiting; the last ones are about two ranges at once."""
    pieces = Pieces(columns=2)
    for place, (interval, amount) in enumerate(done):
        pieces.add(*interval, amount)
        if place < len(questions) and questions[place]:
            assert pieces.most([first]) == largest(done[: place + 1], range(*first))
    apart = [first, (50, 60)] if second[0] < first[1] and first[0] < second[1] else sorted([first, second])
    assert pieces.most(apart) == largest(done, [record for pair in apart for record in range(*pair)])
    assert pieces.worst() == largest(done, range(-1, 50))
    assert pieces.most([]) == (0, 0)
    found = pieces.pieces()
    for start, stop in found:
        assert all(by_hand(done, record) == by_hand(done, start) for record in range(start, stop))
    for (_, stop), (start, _) in pairwise(found):
        assert stop == start
        assert by_hand(done, stop - 1) != by_hand(done, start)
    heaviest = pieces.heaviest()
    most = largest(done, range(50))[0]
    assert (heaviest is None) == (most == 0)
    if heaviest is not None:
        assert heaviest[1] == most
        assert heaviest[0][0] == min(record for record in range(50) if by_hand(done, record)[0] == most)


@pytest.mark.parametrize(
    "number",
    [
        lambda i: Fraction(2**60 + i),  # sums beyond 64 bits
        lambda i: Fraction(2**61, 3) if i % 2 else Fraction(1, 5),  # a unit that makes old sums too long
    ],
)
def test_numbers_that_do_not_fit_into_a_word_stay_exact(number: Any) -> None:
    """A sum in 64 bits or in floats would differ: the twin shows that these numbers need more."""
    chooser, pieces, done = random.Random(3), Pieces(columns=2), []
    for i in range(300):
        start = chooser.randrange(40)
        done.append(((start, start + chooser.randrange(1, 9)), (number(i), Fraction(i, 7))))
        pieces.add(*done[-1][0], done[-1][1])
        if i % 50 == 49:
            assert pieces.worst() == largest(done, range(50))
    for record in range(50):
        assert pieces.most([(record, record + 1)]) == by_hand(done, record)
    assert any(Fraction(float(by_hand(done, record)[0])) != by_hand(done, record)[0] for record in range(50))


def test_denominators_without_a_short_common_multiple_are_rounded_up_by_a_hair() -> None:
    chooser, pieces, done = random.Random(3), Pieces(columns=2), []
    for i in range(300):
        start = chooser.randrange(40)
        done.append(((start, start + chooser.randrange(1, 9)), (Fraction(1, 2**100 + 2 * i + 1), Fraction(0))))
        pieces.add(*done[-1][0], done[-1][1])
        if i % 50 == 49:
            pieces.worst()
    found = [pieces.most([(record, record + 1)])[0] for record in range(40)]
    above = [told - by_hand(done, record)[0] for record, told in enumerate(found)]
    assert all(0 <= more < Fraction(300, 2**2048) for more in above)
    assert any(above)  # the twin: exact sums would be far longer
    assert max(told.denominator for told in found) <= 2**2048


def test_a_range_reaches_to_the_ends_of_what_a_cohort_can_hold() -> None:
    pieces = Pieces(columns=1)
    pieces.add(-(2**63) + 1, 2**63 - 1, (Fraction(1),))
    pieces.add(0, 1, (Fraction(1),))
    assert pieces.most([(0, 1)]) == pieces.most([EVERYWHERE]) == (2,)
    assert pieces.most([(1, 2)]) == pieces.most([(2**63 - 2, 2**63 - 1)]) == (1,)


class Counting(Pieces):
    """Counts the passes over all pieces."""

    merges = 0

    def _merge(self) -> None:
        self.merges += bool(self._from)
        super()._merge()


@pytest.mark.parametrize("pattern", ["scattered", "overlapping", "nested"])
def test_any_order_of_ranges_costs_few_passes(pattern: str) -> None:
    """Work is counted, not timed: added without questions, all ranges are merged at once; with one each, every √n/4 of them."""
    n, order = 20_000, list(range(20_000))
    random.Random(1).shuffle(order)
    where = {
        "scattered": lambda i: (2 * order[i], 2 * order[i] + 1),
        "overlapping": lambda i: (order[i], order[i] + n),
        "nested": lambda i: (i, 2 * n - i),
    }[pattern]
    pieces, one = Counting(columns=1), (Fraction(1),)
    for i in range(n):
        pieces.add(*where(i), one)
    assert pieces.worst() == ((1,) if pattern == "scattered" else (n,))
    assert pieces.merges == 1
    for i in range(200):
        pieces.add(*where(i), one)
        pieces.most([where(i)])
    assert pieces.merges <= 1 + 200 // 33
