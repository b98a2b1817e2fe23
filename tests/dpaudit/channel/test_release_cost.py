"""What one release costs, against routes of its own: exact rates, the Gaussian tail, Rényi orders by brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

import dpaudit as dp
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel.release_cost import cost, gaussian_epsilon, rho, zcdp_delta

STEP = 2**20  # one unit on the grid 2^-20


def analytic_gaussian_delta(epsilon: float, ratio: float) -> float:
    """Balle and Wang 2018, Theorem 8, for sensitivity/sigma = ratio."""
    high, low = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    return float(stats.norm.cdf(high) - math.exp(epsilon) * stats.norm.cdf(low))


@pytest.mark.parametrize("scale", [1, "0.5", 7])
def test_laplace_noise_costs_sensitivity_over_scale_exactly(scale: str) -> None:
    assert cost(dp.Laplace(scale), 2 * STEP, Fraction(0)) == (2 / Fraction(scale), 0)
    assert cost(dp.Laplace(scale), 2 * STEP, Fraction(1, 10)) == (2 / Fraction(scale), 0)


def test_randomised_response_costs_its_epsilon_per_bit() -> None:
    assert cost(dp.RandomizedResponse("0.3"), 1, Fraction(0)) == (Fraction(3, 10), 0)
    assert cost(dp.RandomizedResponse("0.3"), 2, Fraction(0)) == (Fraction(6, 10), 0)


@pytest.mark.parametrize(("sigma", "delta"), [("4", "1e-6"), ("1", "1e-3"), ("20", "1e-9")])
def test_gaussian_noise_costs_the_exact_epsilon_of_the_gaussian_curve(sigma: str, delta: str) -> None:
    """The lattice 2^-20 is so fine that the continuous curve is the truth to eight digits."""
    epsilon, spent = cost(dp.Gaussian(sigma), STEP, Fraction(delta))
    assert epsilon is not None
    truth = optimize.brentq(lambda e: analytic_gaussian_delta(e, 1 / float(sigma)) - float(Fraction(delta)), 1e-9, 60, xtol=1e-13)
    assert spent == Fraction(delta)
    assert float(epsilon) == pytest.approx(truth, abs=2e-8)
    halved, _ = cost(dp.Gaussian(Fraction(sigma) / 2), STEP, Fraction(delta))
    assert halved is not None
    assert halved > epsilon * Fraction(3, 2)


def test_gaussian_noise_has_no_price_at_delta_zero() -> None:
    assert cost(dp.Gaussian(1), STEP, Fraction(0)) == (None, 0)
    assert cost(dp.Gaussian(1), 0, Fraction(0)) == (0, 0)


def test_several_coordinates_cost_no_less_than_one() -> None:
    """One coordinate has an exact curve; for several, zCDP holds, and can only be looser."""
    delta = Fraction(1, 10**6)
    one, many = (gaussian_epsilon(dp.Gaussian(4), STEP, delta, k) for k in (1, 3))
    assert one < many < one * Fraction(5, 4)


@pytest.mark.parametrize(("r", "epsilon"), [(0.01, 0.5), (0.5, 3.0), (2.0, 12.0), (0.125, 0.0)])
def test_the_zcdp_bound_is_above_the_best_order_and_close_to_it(r: float, epsilon: float) -> None:
    """Canonne, Kamath, Steinke 2020, Cor. 13, minimised over a dense set of orders."""
    alpha = 1 + np.logspace(-6, 4, 400_000)
    logs = (alpha - 1) * (alpha * r - epsilon) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1)
    best = min(1.0, float(np.exp(logs.min())))
    found = float(zcdp_delta(Fraction(r), Fraction(epsilon)))
    assert best * (1 - 1e-8) <= found <= 1.05 * best  # the grid of orders may miss the best by 1e-8


def test_rho_is_half_the_squared_ratio_of_sensitivity_and_sigma() -> None:
    assert rho(dp.Gaussian(4), STEP) == Fraction(1, 32)
    assert rho(dp.Gaussian(4), 2 * STEP) == Fraction(1, 8)


def test_shuffling_never_costs_more_than_one_report_and_pays_with_delta() -> None:
    delta = Fraction(1, 10**6)
    few, many = (cost(dp.Laplace(1), STEP, delta, shuffled=n, amplify=amplified) for n in (2, 100_000))
    assert few[0] is not None
    assert many[0] is not None
    assert few[0] <= 1
    assert many[0] < Fraction(1, 10)
    assert many[1] == delta
    assert cost(dp.Laplace(1), STEP, Fraction(0), shuffled=100_000, amplify=amplified) == (1, 0)
    assert cost(dp.Laplace(1), STEP, delta, shuffled=100_000) == (1, 0)  # the twin: no theorem, no amplification
