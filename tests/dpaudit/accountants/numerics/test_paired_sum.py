"""The exact sum for two values of equal weight: against the contour, which shares nothing with it but the law."""

from fractions import Fraction

import pytest

from dpaudit.accountants.numerics.contour import enclose
from dpaudit.accountants.numerics.enumeration import enumerated
from dpaudit.accountants.numerics.paired_sum import EXACT_LIMIT, exact_sum, is_long
from dpaudit.accountants.shuffle.clone import CLONE, RESPONSE
from dpaudit.claims.balls import precision


@pytest.mark.parametrize("family", [CLONE, RESPONSE])
@pytest.mark.parametrize(
    ("epsilon0", "n", "epsilon"),
    [("1", 2, "0.5"), ("1", 10, "0.3"), ("4", 100, "0.5"), ("1", 1000, "0.18"), ("4", 10**5, "0.17"), ("0.01", 10**4, "2e-4")],
)
def test_contour_and_exact_sum_enclose_the_same_number(family, epsilon0, n, epsilon):
    with precision(300):
        (summand,) = family.enclosures(Fraction(epsilon0), n, Fraction(epsilon))
        sum_low, sum_high = exact_sum(summand)
        low, high = enclose(summand)
        assert sum_low.lower() > 0
        assert low.lower() <= sum_high.upper()
        assert high.upper() >= sum_low.lower()
        assert (high.upper() - low.lower()) / sum_low < 0.05
        assert (sum_high.upper() - sum_low.lower()) / sum_low < 1e-12


def test_a_window_that_is_too_short_is_covered_by_the_upper_end_only():
    """With little effort the window of the sum is short: the lower end drops, the upper end stays above."""
    with precision(400):
        (summand,) = CLONE.enclosures(Fraction(1), 5000, Fraction("0.05"))
        exact_low, exact_high = exact_sum(summand, effort=120.0)
        low, high = exact_sum(summand, effort=1.0)
        assert low.lower() <= exact_high.upper()
        assert high.upper() >= exact_low.lower()
        assert low.upper() < exact_low.lower() * 0.9  # the twin: without what is outside, this would not be an upper bound


@pytest.mark.parametrize("family", [CLONE, RESPONSE])
def test_the_sum_is_that_of_all_counts(family):
    with precision(256):
        for n in (2, 7, 25):
            (law,) = family.enclosures(Fraction(2), n, Fraction("0.3"))
            low, high = exact_sum(law)
            least, most = enumerated(law)
            assert low.lower() <= most.upper()
            assert least.lower() <= high.upper()
            assert (high.upper() - low.lower()) / least < 1e-30


def test_a_sum_is_long_where_many_reports_are_not_idle():
    with precision(128):
        for n, weight in ((10**4, Fraction(1)), (10**6, Fraction(4)), (10**6, Fraction(8))):
            (law,) = CLONE.enclosures(weight, n, Fraction(0))
            assert is_long(law) == (n * float(2 * law.atoms[0][0]) > EXACT_LIMIT)
