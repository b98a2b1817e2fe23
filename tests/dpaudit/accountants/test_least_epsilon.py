"""The least valid bound: never above any of the sums, and numerical only where parameters were fixed in advance."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants import Known, Part, compose
from dpaudit.accountants.least_epsilon import NUMERICAL, PARALLEL, RDP, ZCDP, least
from dpaudit.accountants.losses.renyi import renyi_epsilon, zcdp
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
