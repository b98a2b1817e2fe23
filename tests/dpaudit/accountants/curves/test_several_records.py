"""Groups of records: pure costs multiply, ρ grows with the square, and any other guarantee hops from record to record."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accountants import compose
from dpaudit.accountants.curves.ledger_view import ledger_view
from dpaudit.accountants.curves.several_records import group_cost
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.stated_parts import Concentrated, RenyiCurve
from dpaudit.claims import InvalidValue
from dpaudit.ledger.spending.zcdp_sums import zcdp_epsilon

STEP = 2**20
DELTA = Fraction(1, 10**6)


def cost(part: AnyPart, size: int, delta: Fraction = DELTA) -> Any:
    group = Counter({part: 1})
    return group_cost([group], group, size, delta, fixed=True)


def test_pure_costs_multiply() -> None:
    assert cost(Part(dp.Laplace(4), STEP), 3, Fraction(0)).epsilon == Fraction(3, 4)


def test_a_sum_moves_by_as_many_times_its_sensitivity() -> None:
    found = cost(Part(dp.Gaussian(4), STEP, 2), 3)
    assert found.epsilon == compose([Part(dp.Gaussian(4), 3 * STEP, 2)], DELTA).upper
    assert found.delta == DELTA


def test_rho_grows_with_the_square() -> None:
    assert cost(Concentrated(Fraction(1, 50)), 2).epsilon == zcdp_epsilon(Fraction(4, 50), DELTA)


def test_any_other_guarantee_hops() -> None:
    part = RenyiCurve(((Fraction(8), Fraction(1, 4)), (Fraction(64), Fraction(2))))
    found = cost(part, 2)
    one = found.epsilon / 2
    assert found.delta <= DELTA
    assert float(found.delta) == pytest.approx(1e-6, rel=0.05)
    assert float(one) > 1.5  # dearer than one record's share, as its δ is smaller


def test_a_known_guarantee_keeps_the_textbook_pair() -> None:
    """(ε, δ) for one is (Kε, δΣe^{iε}) for K; never less."""
    found = cost(Known(Fraction(1), Fraction(1, 10**9)), 3)
    assert found.epsilon <= 3
    assert found.delta <= DELTA
    short = Fraction(1e-9 * (1 + math.e + math.e**2) * (1 - 1e-6))  # what three hops surely lose is more than that
    with pytest.raises(InvalidValue):
        cost(Known(Fraction(1), Fraction(1, 10**9)), 3, short)


def test_no_figure_is_made_up() -> None:
    with pytest.raises(InvalidValue, match="group"):
        cost(Known(Fraction(8), DELTA), 5)


def test_records_of_different_cohorts_are_all_counted() -> None:
    """Two records may sit in two cohorts: then both releases move, each once; as if both moved twice."""
    rows = [{"mechanism": "laplace", "scale": "2", "sensitivity": "1", "cohort": [[k, k + 1]]} for k in range(2)]
    found = ledger_view(rows).group(2)
    assert found.epsilon == 1  # hops: 1/2 each


@pytest.mark.parametrize("mechanism", ["randomized-response", "unary-response", "optimized-unary-response"])
def test_a_group_may_change_as_many_answers_as_it_has_records(mechanism: str) -> None:
    """By hand nobody says how many answers a release has; a door does."""
    written = {"mechanism": mechanism, "epsilon": "1", "k": "4"}
    assert [ledger_view([written], delta=0).group(size).epsilon for size in (1, 2, 5)] == [1, 2, 5]
    with dp.simulate(1) as channel:
        channel.release("one", 2, dp.KaryResponse(1, 4), sensitivity=1)
        channel.reports("three", np.array([0, 1, 2]), dp.KaryResponse(1, 4), sensitivity=1)
        one, three = (event.record for event in channel.events)
    assert [ledger_view([record], delta=0).group(5).epsilon for record in (one, three)] == [1, 3]
