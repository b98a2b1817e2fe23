"""The least valid bound: never above any of the sums, and numerical only where parameters were fixed in advance."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants import Known, Part, compose
from dpaudit.accountants.least_epsilon import NUMERICAL, PARALLEL, RDP, ZCDP, least
from dpaudit.accountants.losses.renyi import renyi_epsilon, zcdp
from dpaudit.accountants.sums import OWN
from dpaudit.claims import InvalidValue

STEP = 2**20
MILLIONTH = Fraction(1, 10**6)
LAPLACE = Part(dp.Laplace(10), STEP)


def test_few_releases_cost_their_pure_sum_with_delta_zero() -> None:
    for fixed in (False, True):
        found = least([Counter({LAPLACE: 3})], MILLIONTH, fixed=fixed)
        assert (found.epsilon, found.delta) == (Fraction(3, 10), 0)


def test_many_releases_cost_less_than_their_sum_also_with_adaptive_parameters() -> None:
    group = Counter({LAPLACE: 10_000})
    safe, fixed = (least([group], MILLIONTH, fixed=fixed) for fixed in (False, True))
    assert safe.epsilon == zcdp([Part(dp.Laplace(10), STEP, 10_000)], MILLIONTH).upper
    assert safe.method == ZCDP + PARALLEL
    assert fixed.epsilon == compose([Part(dp.Laplace(10), STEP, 10_000)], MILLIONTH).upper < safe.epsilon < 1000
    assert fixed.method == NUMERICAL + PARALLEL
    assert least([group], Fraction(0), fixed=True).epsilon == 1000


def test_equal_releases_of_one_entry_are_one_plan() -> None:
    """Their noise cannot have been chosen on the way; that of two entries can."""
    entry = Part(dp.Laplace(10), STEP, 10_000)
    assert least([Counter([entry])], MILLIONTH, fixed=False) == least([Counter([entry])], MILLIONTH, fixed=True)
    assert least([Counter([entry])], MILLIONTH, fixed=False).method == NUMERICAL + PARALLEL
    assert least([Counter({entry: 2})], MILLIONTH, fixed=False).method == ZCDP + PARALLEL
    sampled = Part(dp.Laplace(2), STEP, 1000, sampling=Fraction(1, 10))
    assert least([Counter([sampled])], MILLIONTH, fixed=False).epsilon < 8  # the sum is 62.9
    assert least([Counter([Known(Fraction(1), MILLIONTH)])], MILLIONTH, fixed=False).epsilon == 1


def test_one_gaussian_entry_is_told_by_its_own_curve_and_two_by_their_sum() -> None:
    """4.8866 is no sum of ρ: that is 5.2215."""
    entry = Part(dp.Gaussian(2), STEP, 4)
    one = least([Counter([entry])], MILLIONTH, fixed=False)
    assert (float(one.epsilon), one.method) == (pytest.approx(4.886554), OWN + PARALLEL)
    two = least([Counter({Part(dp.Gaussian(2), STEP, 2): 2})], MILLIONTH, fixed=False)
    assert (float(two.epsilon), two.method) == (pytest.approx(5.221534), ZCDP + PARALLEL)


def test_stated_failures_are_composed_where_their_sum_is_above_delta() -> None:
    """Ten times (0, .3): they fail with 1 − .7^10 = .972, not with 3; and also for a record that pays the least ε."""
    failing = Known(Fraction(0), Fraction(3, 10), 10)
    assert least([Counter([failing])], Fraction(98, 100), fixed=False).delta == Fraction(98, 100)
    both = least([Counter([failing]), Counter([LAPLACE])], Fraction(98, 100), fixed=False)
    assert both.delta == Fraction(98, 100)
    assert least([Counter([failing])], Fraction(97, 100), fixed=False).delta > 1


def test_the_worst_record_counts_whatever_the_order_of_the_groups() -> None:
    few, many = Counter({LAPLACE: 30}), Counter({Part(dp.Gaussian(10), STEP): 400})
    a, b = (least([group], MILLIONTH, fixed=True) for group in (few, many))
    for groups in ([few, many], [many, few]):
        both = least(groups, MILLIONTH, fixed=True)
        assert both.epsilon == max(a.epsilon, b.epsilon)
        assert both.delta == MILLIONTH


def test_where_a_law_is_not_known_renyi_divergences_are_used() -> None:
    """Gaussian noise of one step on two coordinates of a coarse grid has no numerical law here."""
    narrow = Part(dp.Gaussian(1, grid=1), 1, coordinates=2)
    group = Counter({narrow: 4, LAPLACE: 50})
    found = least([group], MILLIONTH, fixed=True)
    assert found.method == RDP + PARALLEL
    parts = [Part(dp.Gaussian(1, grid=1), 1, 4, 2), Part(dp.Laplace(10), STEP, 50)]
    assert found.epsilon == renyi_epsilon(parts, MILLIONTH).upper


def test_known_charges_take_their_delta_first() -> None:
    charged = Known(Fraction(1, 2), MILLIONTH / 2)
    found = least([Counter({charged: 1, Part(dp.Gaussian(10), STEP): 1})], MILLIONTH, fixed=False)
    assert found.epsilon > Fraction(1, 2)
    assert found.delta == MILLIONTH
    with pytest.raises(InvalidValue, match="delta"):
        least([Counter({charged: 2, Part(dp.Gaussian(10), STEP): 1})], MILLIONTH, fixed=False)


def test_nothing_costs_nothing() -> None:
    assert least([Counter()], MILLIONTH, fixed=True).epsilon == 0
    assert least([], MILLIONTH, fixed=True).method == "nothing released"
