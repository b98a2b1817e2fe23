"""What doors and accountants take a shuffled batch to cost."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants.shuffle.amplifier import amplified, best_theorem
from dpaudit.accountants.shuffle.closed_form import LARGEST_EPSILON, LARGEST_N

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_reports_cost_what_their_blanket_does_and_others_what_one_randomiser_for_all_does(n: int) -> None:
    """Both are upper ends: never below the lower end of the same enclosure."""
    laplace = amplified(dp.Laplace(2), Fraction(1), n, DELTA)
    blanket = dp.amplify(1, n, DELTA, method="laplace", attack=False)
    assert blanket.lower <= laplace <= Fraction(1)
    assert laplace == pytest.approx(float(blanket.upper), rel=1e-6)
    same = dp.amplify(1, n, DELTA, method="same", attack=False)
    assert amplified(dp.RandomizedResponse("1"), Fraction(1), n, DELTA) == same.upper
    assert laplace <= same.upper <= dp.amplify(1, n, DELTA, method="clone", attack=False).upper
    several = best_theorem(dp.KaryResponse("1/2", 5), Fraction(1), n, DELTA)  # two answers that differ: no blanket of its own
    assert several == (same.upper, "same")
    categories = best_theorem(dp.KaryResponse(1, 5), Fraction(1), n, DELTA)
    assert categories == (dp.amplify(1, n, DELTA, method="krr", k=5, attack=False).upper, "krr")
    assert categories[0] < same.upper


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
