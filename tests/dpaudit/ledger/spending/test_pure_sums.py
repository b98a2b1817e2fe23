"""Sums kept as whole numbers over a common denominator equal sums of Fractions, whatever the denominators."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.ledger import Charge, Cohort, PureSums

fractions = st.builds(Fraction, st.integers(0, 10**6), st.integers(1, 10**6))
deltas = st.just(Fraction(0)) | st.builds(lambda p, q: Fraction(p, p + q), st.integers(0, 1000), st.integers(1, 10**9))
ranges = st.tuples(st.integers(0, 11), st.integers(1, 6)).map(lambda pair: range(pair[0], pair[0] + pair[1]))
charges = st.builds(lambda e, d, c: Charge(e, d, Cohort.of(c)), fractions, deltas, ranges | st.none())


def sums(done: list[Charge], record: Any) -> tuple[Fraction, Fraction]:
    mine = [charge for charge in done if record in charge.cohort]
    return sum((charge.epsilon or Fraction(0) for charge in mine), Fraction(0)), sum((c.delta for c in mine), Fraction(0))


@settings(max_examples=300, deadline=None)
@given(st.lists(charges, max_size=15))
def test_mixed_denominators_add_up_to_the_exact_sum_for_every_record(done: list[Charge]) -> None:
    spends = PureSums()
    for charge in done:
        spends.add(charge)
    every = [sums(done, record) for record in range(20)]
    assert spends.worst() == (max(e for e, _ in every), max(d for _, d in every))
    free = [spends.would_cost(Charge(Fraction(0), cohort=Cohort.of(record))) for record in range(20)]
    assert free == every


def test_a_sum_that_returns_to_a_whole_number_heals_into_its_neighbour() -> None:
    """1/3 + 2/3 beside 1: equal spends in other terms are one piece."""
    spends = PureSums()
    spends.add(Charge(Fraction(1), cohort=Cohort.of(range(0, 5))))
    spends.add(Charge(Fraction(1, 3), cohort=Cohort.of(range(5, 9))))
    spends.add(Charge(Fraction(2, 3), cohort=Cohort.of(range(5, 9))))
    assert spends._pieces.pieces() == [(0, 9)]
    assert spends.worst() == (1, 0)


def test_many_terms_of_one_denominator_stay_exact_where_floats_do_not() -> None:
    spends, tenth = PureSums(), Charge(Fraction("0.1"))
    for _ in range(10**5):
        spends.add(tenth)
    assert spends.worst()[0] == 10**4
    assert sum([0.1] * 10**5) != 10**4  # the twin
