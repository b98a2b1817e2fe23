"""Many different Laplace releases in arrays of doubles, against the contour in balls and in high precision."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, PrivacyLoss, ResponseLoss
from dpaudit.accountants.losses.loss_contour import Contour
from dpaudit.accountants.losses.loss_plans import log_moment, plan, saddle_at, top
from dpaudit.accountants.losses.many_laplace import LEAST_LAWS, ManyLaplace, many_laplace_epsilon
from dpaudit.claims.balls import lower, precision, upper

DELTA = Fraction(1, 10**6)
STEPS = 2**20


def different(count: int, mu_squared: Fraction) -> list[tuple[PrivacyLoss, int]]:
    laws: list[tuple[PrivacyLoss, int]] = [(LaplaceLoss(Fraction(10, 100 + 7 * i), STEPS), 1 + i % 3) for i in range(count)]
    return laws + ([(GaussianLoss(mu_squared), 1)] if mu_squared else [])


def in_balls(laws: list[tuple[PrivacyLoss, int]], epsilon: Fraction) -> tuple[Fraction, Fraction]:
    slack = top(laws) - epsilon
    at = saddle_at(laws, float(slack), "slack")
    with precision(220):
        low, high = Contour(laws, at, plan(laws, at, inner=False)).delta(slack)
        return lower(low), upper(high)


@pytest.mark.parametrize("delta", ["1e-4", "1e-9"])
def test_the_contour_in_balls_agrees_at_both_ends(delta: str) -> None:
    laws, target = different(LEAST_LAWS, Fraction(1, 10)), Fraction(delta)
    low, high = many_laplace_epsilon(laws, target)
    assert high - low <= 1e-9 * high
    assert in_balls(laws, high * (1 + Fraction(1, 10**9)))[1] <= target
    assert in_balls(laws, low * (1 - Fraction(1, 10**9)))[0] > target
    assert in_balls(laws, high * (1 - Fraction(1, 10**6)))[0] > target  # and not by being far off


def test_without_gaussian_noise_both_ends_hold() -> None:
    laws: list[tuple[PrivacyLoss, int]] = [(LaplaceLoss(Fraction(100, 1000 + 9 * i), STEPS), 10) for i in range(100)]
    low, high = many_laplace_epsilon(laws, DELTA)
    assert high - low <= 1e-9 * high
    rough = many_laplace_epsilon([*laws, (GaussianLoss(Fraction(1, 10**6)), 1)], DELTA)  # releases a little more
    assert low <= rough[1]
    assert float(rough[0]) == pytest.approx(float(high), rel=1e-5)


def test_nodes_are_within_their_errors_of_high_precision() -> None:
    laws = different(10, Fraction(0))
    many = ManyLaplace.of(laws)
    c, t = 7.5, np.array([0.0, 0.5, 3.0, 40.0, 900.0])
    nodes = many.nodes(c, t)
    with mpmath.workdps(50):
        for value, error, at in zip(nodes.values, nodes.errors, t, strict=True):
            truth = mpmath.mpf(1)
            for law, count in many.exact:
                truth *= (_moment(law, mpmath.mpc(c, float(at))) / _moment(law, mpmath.mpf(c))) ** count
            assert abs(truth - mpmath.mpc(complex(value))) <= error
            assert error < 1e-11


def _moment(law: LaplaceLoss, z: mpmath.mpc) -> mpmath.mpc:
    """E e^{z(L−ε)}: both atoms and the geometric sum between them."""
    epsilon = mpmath.mpf(law.epsilon.numerator) / law.epsilon.denominator
    a = epsilon / law.steps
    r, rho, back = mpmath.exp(-a), mpmath.exp(-a * (1 + 2 * z)), mpmath.exp(-epsilon * (1 + 2 * z))
    return (1 + back) / (1 + r) + (1 - r) / (1 + r) * (rho - back) / (1 - rho)


def test_bounds_for_skipped_nodes_hold_everywhere() -> None:
    many = ManyLaplace.of(different(10, Fraction(0)))
    c, low = 5.0, np.geomspace(0.5, 2000, 30)
    high = low * 1.05
    bounds = many.log_bound(c, low, high)
    assert bounds.min() < -1
    for start, stop, bound in zip(low, high, bounds, strict=True):
        t = np.concatenate([[0.0], np.linspace(start, stop, 40)])
        assert np.log(np.abs(many.nodes(c, t).values[1:])).max() <= bound + 1e-12


def test_moments_at_real_orders() -> None:
    laws = different(10, Fraction(1, 7))
    many = ManyLaplace.of(laws)
    with precision(160):
        found = many.log_moment(4.25)
        assert float(found.rad()) < 1e-13
        assert float(found.mid()) == pytest.approx(float(log_moment(laws, np.array([4.25 + 0j]))[0].real), abs=1e-12)


def test_other_laws_and_few_are_left_to_the_contour() -> None:
    for laws in (different(LEAST_LAWS - 1, Fraction(0)), [*different(10, Fraction(0)), (ResponseLoss(Fraction(1)), 1)]):
        with pytest.raises(ArithmeticError):
            many_laplace_epsilon(laws, DELTA)
