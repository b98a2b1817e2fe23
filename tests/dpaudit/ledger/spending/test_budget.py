"""The filter is compared with a sum per record, written out; two wrong filters must differ from it."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import BudgetExceeded, Claim, InvalidValue
from dpaudit.ledger import Budget, Charge, Cohort, PureSums, refuse_overrun
from dpaudit.ledger.spending.budget import Spend

UNIVERSE: list[Any] = [*range(12), "a", "b", "somebody without a charge of their own"]

cohorts = st.one_of(
    st.none(),
    st.tuples(st.integers(0, 11), st.integers(0, 11)).map(lambda ends: range(min(ends), max(ends))),
    st.sets(st.sampled_from([*range(12), "a", "b"])),
)
charges = st.builds(
    lambda e, d, c: Charge(Fraction(e, 7), Fraction(d, 1000), Cohort.of(c)),
    st.integers(0, 5),
    st.integers(0, 3),
    cohorts,
)


def brute_force(done: list[Charge], record: Any) -> Spend:
    mine = [charge for charge in done if record in charge.cohort]
    return sum((c.epsilon or Fraction(0) for c in mine), Fraction(0)), sum((c.delta for c in mine), Fraction(0))


def worst_of(done: list[Charge], cohort: Cohort) -> Spend:
    spends = [brute_force(done, record) for record in UNIVERSE if record in cohort]
    return max((s[0] for s in spends), default=Fraction(0)), max((s[1] for s in spends), default=Fraction(0))


@settings(deadline=None)
@given(st.lists(charges, max_size=12))
def test_the_filter_equals_a_sum_per_record(done: list[Charge]) -> None:
    spends = PureSums()
    for i, charge in enumerate(done):
        assert spends.would_cost(charge) == worst_of(done[: i + 1], charge.cohort)
        spends.add(charge)
        assert spends.worst() == worst_of(done[: i + 1], Cohort.all())


@pytest.mark.parametrize("seed", range(10))
def test_scattered_cohorts_of_hundreds_of_pieces_add_up_too(seed: int) -> None:
    chooser = random.Random(seed)
    left, right = (set(chooser.sample(range(400), 200)) for _ in range(2))
    spends = PureSums()
    spends.add(Charge(Fraction(1), Fraction(0), Cohort.of(left)))
    spends.add(Charge(Fraction(2), Fraction(0), Cohort.of(right)))
    spends.add(Charge(Fraction(4), Fraction(0), Cohort.of(range(100, 300))))
    for record in (*left, *right, 100, 299, 300):
        expected = 1 * (record in left) + 2 * (record in right) + 4 * (100 <= record < 300)
        assert spends.would_cost(Charge(Fraction(0), Fraction(0), Cohort.of(record))) == (expected, 0)


def test_a_tenth_ten_times_is_exactly_one_and_an_eleventh_is_refused() -> None:
    spends, budget, tenth = PureSums(), Budget("1"), Charge(Fraction("0.1"), name="mean")
    for _ in range(10):
        refuse_overrun(spends, tenth, budget)
        spends.add(tenth)
    assert spends.worst() == (1, 0)
    with pytest.raises(BudgetExceeded, match=r"ε=1\.1") as refusal:
        refuse_overrun(spends, tenth, budget)
    assert refusal.value.would_cost == (Fraction(11, 10), 0)


def test_delta_alone_exhausts_a_budget() -> None:
    spends, budget = PureSums(), Budget("10", "1e-6")
    spends.add(Charge(Fraction(1), Fraction("1e-6")))
    with pytest.raises(BudgetExceeded):
        refuse_overrun(spends, Charge(Fraction(1), Fraction("1e-9")), budget)
    refuse_overrun(spends, Charge(Fraction(1)), budget)


def test_disjoint_cohorts_compose_in_parallel_which_a_global_sum_refuses() -> None:
    batches = [Charge(Fraction(1), Fraction(0), Cohort.of(range(10 * i, 10 * i + 10))) for i in range(50)]
    spends, budget = PureSums(), Budget("1")
    for charge in batches:
        refuse_overrun(spends, charge, budget)
        spends.add(charge)
    assert spends.worst() == (1, 0)
    assert not budget.allows((sum((c.epsilon or Fraction(0) for c in batches), Fraction(0)), Fraction(0)))  # the twin


def test_one_shared_record_is_enough_to_refuse_which_a_plain_maximum_would_allow() -> None:
    spends, budget = PureSums(), Budget("1")
    first, second = (
        Charge(Fraction(1), cohort=Cohort.of(range(0, 11))),
        Charge(Fraction(1), cohort=Cohort.of(range(10, 20))),
    )
    spends.add(first)
    with pytest.raises(BudgetExceeded):
        refuse_overrun(spends, second, budget)
    assert budget.allows((max(first.epsilon or 0, second.epsilon or 0), Fraction(0)))  # type: ignore[arg-type]  # the twin


def test_a_charge_to_everyone_counts_for_those_who_come_later() -> None:
    spends = PureSums()
    spends.add(Charge(Fraction(1)))
    assert spends.would_cost(Charge(Fraction(1), cohort=Cohort.of("new")))[0] == 2
    assert spends.would_cost(Charge(Fraction(1), cohort=Cohort.of([]))) == (0, 0)


def test_a_charge_without_a_pure_cost_is_refused_and_blocks_its_records_only() -> None:
    spends = PureSums()
    with pytest.raises(InvalidValue, match="pure-sums"):
        spends.would_cost(Charge(None, cohort=Cohort.of(range(5))))
    spends.add(Charge(None, cohort=Cohort.of(range(5))))
    with pytest.raises(InvalidValue):
        spends.would_cost(Charge(Fraction(1), cohort=Cohort.of(4)))
    assert spends.would_cost(Charge(Fraction(1), cohort=Cohort.of(5))) == (1, 0)


def test_adjacent_equal_charges_are_kept_as_one_piece() -> None:
    spends = PureSums()
    for i in range(1000):
        spends.add(Charge(Fraction(1), cohort=Cohort.of(i)))
    assert spends._pieces.pieces() == [(0, 1000)]


@pytest.mark.parametrize("given_as", [Budget("1/2", "1e-6"), Claim("1/2", "1e-6"), ("0.5", "1e-6"), (0.5, 1e-6)])
def test_a_budget_is_read_exactly_from_what_callers_hold(given_as: Any) -> None:
    assert Budget.of(given_as) == Budget(Fraction(1, 2), Fraction(1, 10**6))


@pytest.mark.parametrize("wrong", ["-1", "nan", float("inf"), True, ("1", "1"), ("1", "-1e-9"), ("1", "0", "0"), "x"])
def test_a_meaningless_budget_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue):
        Budget.of(wrong)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(Fraction(-1), Fraction(0)), (Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))],
)
def test_a_charge_outside_its_range_is_refused(epsilon: Fraction, delta: Fraction) -> None:
    with pytest.raises(InvalidValue):
        Charge(epsilon, delta)
