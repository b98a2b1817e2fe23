"""What doors and accountants take a shuffled batch to cost."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.accountants.shuffle.closed_form import LARGEST_EPSILON, LARGEST_N

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_laplace_reports_cost_what_their_blanket_does_and_others_what_clones_do(n: int) -> None:
    """Both are upper ends: never below the lower end of the same enclosure."""
    laplace = amplified(dp.Laplace(2), Fraction(1), n, DELTA)
    blanket = dp.amplify(1, n, DELTA, method="laplace", attack=False)
    assert blanket.lower <= laplace <= Fraction(1)
    assert laplace == pytest.approx(float(blanket.upper), rel=1e-6)
    clones = dp.amplify(1, n, DELTA, method="clone", attack=False)
    assert amplified(dp.RandomizedResponse("1"), Fraction(1), n, DELTA) == clones.upper
    assert laplace <= clones.upper


@pytest.mark.parametrize(("epsilon0", "n"), [(Fraction(0), 100), (LARGEST_EPSILON + 1, 100), (Fraction(1), LARGEST_N + 1)])
def test_where_no_theorem_helps_a_batch_costs_what_a_report_does(epsilon0: Fraction, n: int) -> None:
    assert amplified(dp.Laplace(2), Fraction(epsilon0), n, DELTA) == epsilon0


def test_more_reports_or_a_larger_delta_never_cost_more() -> None:
    for noise in (dp.Laplace(2), dp.RandomizedResponse("1")):
        by_n = [amplified(noise, Fraction(1), n, DELTA) for n in (10, 100, 1000, 10_000)]
        assert by_n == sorted(by_n, reverse=True)
        assert by_n[-1] < by_n[0]
        by_delta = [amplified(noise, Fraction(1), 1000, Fraction(1, 10**k)) for k in (3, 6, 9)]
        assert by_delta == sorted(by_delta)
