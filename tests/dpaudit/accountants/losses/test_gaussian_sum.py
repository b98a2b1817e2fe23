"""The closed form of Gaussian releases against quadrature in high precision, the contour, and its own inverse."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from dpaudit.accountants.losses.gaussian_sum import gaussian_sum_delta, gaussian_sum_epsilon
from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss
from dpaudit.accountants.losses.loss_contour import Contour
from dpaudit.accountants.losses.loss_plans import plan, saddle_at
from dpaudit.claims.balls import precision

MU_SQUARED = ["1e-20", "1e-6", "0.1", "1", "100", "1e6"]
DELTAS = ["0.9", "0.3", "1e-6", "1e-12", "1e-300", "1e-400"]


def integral(mu_squared: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """E (1 − e^{ε−L})_+ over L ~ N(μ²/2, μ²), by quadrature."""
    with mpmath.workdps(40):
        squared, at = (mpmath.mpf(each.numerator) / each.denominator for each in (mu_squared, epsilon))
        mu = mpmath.sqrt(squared)

        def gain(u: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(u) * -mpmath.expm1(at - squared / 2 - mu * u)

        kink = (at - squared / 2) / mu
        return mpmath.quad(gain, [kink, *(kink + step for step in (1, 3, 8, 20, 50))])


@pytest.mark.parametrize(("mu_squared", "epsilon"), [("1", "1"), ("0.1", "1.3"), ("0.01", "0"), ("9", "14"), ("4", "0.2")])
def test_delta_is_the_integral(mu_squared: str, epsilon: str) -> None:
    low, high = gaussian_sum_delta(Fraction(mu_squared), Fraction(epsilon))
    truth = integral(Fraction(mu_squared), Fraction(epsilon))
    with mpmath.workdps(40):
        allowed = truth * mpmath.mpf(10) ** -25  # of the quadrature
        assert mpmath.mpf(low.numerator) / low.denominator <= truth + allowed
        assert mpmath.mpf(high.numerator) / high.denominator >= truth - allowed
    assert high - low <= high / 10**30


def test_delta_is_the_known_value() -> None:
    low, high = gaussian_sum_delta(Fraction(1), Fraction(1))
    assert low <= high
    assert float(low) == pytest.approx(0.12693673750664397, rel=1e-13)  # Φ(−1/2) − e Φ(−3/2)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu_squared", MU_SQUARED)
def test_the_ends_are_on_either_side_of_delta(mu_squared: str, delta: str) -> None:
    squared, target = Fraction(mu_squared), Fraction(delta)
    low, high = gaussian_sum_epsilon(squared, target)
    assert 0 <= low <= high
    assert gaussian_sum_delta(squared, high)[1] <= target
    if high == 0:
        return
    assert gaussian_sum_delta(squared, low)[0] > target
    assert gaussian_sum_delta(squared, high * (1 - Fraction(1, 10**10)))[1] > target  # the twin: no more room than that
    assert high - low <= high / 10**10


@pytest.mark.parametrize("mu_squared", ["0.1", "1", "100"])
def test_the_contour_encloses_the_same(mu_squared: str) -> None:
    parts = [(GaussianLoss(Fraction(mu_squared)), 1)]
    at = saddle_at(parts, math.log(1e-6), "log_delta")
    with precision(200):
        below, above = (float(end) for end in Contour(parts, at, plan(parts, at, inner=False)).delta(Fraction(at.slack)))
    low, high = (float(end) for end in gaussian_sum_delta(Fraction(mu_squared), Fraction(-at.slack)))
    assert below <= high * (1 + 1e-12)
    assert low <= above * (1 + 1e-12)
    assert above - below <= 1e-9 * high
