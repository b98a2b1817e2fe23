"""Interval arithmetic covers the whole range, and grids decide identities; each has a twin that must fail."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

from proofs_checks.shared.proof_steps import Step, at_most_for_every_horizon, broken, rows, supremum, vanishes


def test_the_supremum_is_an_upper_bound_and_near():
    found = float(supremum(lambda x: x * (1 - x), flint.arb(0), flint.arb(1)))
    assert 0.25 <= found < 0.2511


def test_a_narrow_peak_between_points_of_a_grid_is_not_overlooked():
    peak = Fraction(1, 3) + Fraction(1, 7 * 10**5)
    centre = flint.arb(flint.fmpq(peak.numerator, peak.denominator))
    assert float(supremum(lambda x: 1 / (1 + ((x - centre) * 10**6) ** 2), flint.arb(0), flint.arb(1))) >= 1


@pytest.mark.parametrize(("bound", "holds"), [("0.911", True), ("0.910", False)])
def test_one_over_log_t_is_at_most_its_value_at_three(bound, holds):
    assert at_most_for_every_horizon(lambda x: x, bound) is holds


def test_identities_of_polynomials_and_twins():
    assert vanishes(lambda x, y: (x + y) ** 2 - x**2 - 2 * x * y - y**2, (2, 2))
    assert not vanishes(lambda x, y: (x + y) ** 2 - x**2 - y**2, (2, 2))
    assert not vanishes(lambda x: (x - 1) * (x - 2), (2,))


def test_steps_say_whether_they_hold():
    steps = [Step("a", "b", True), Step("c", "d", False), Step("e", "f")]
    assert broken(steps) == ["c"]
    assert [row["holds"] for row in rows(steps)] == ["computed", "NO", "argued"]
