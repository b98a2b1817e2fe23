"""Rényi divergences against sums over outputs, and their conversion against the exact composition and dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import rdp_privacy_accountant

import dpaudit as dp
from dpaudit.accountants import Known, Part, compose
from dpaudit.accountants.losses.renyi import renyi, renyi_epsilon, zcdp, zcdp_rho
from dpaudit.claims import InvalidValue

STEP = 2**20
MILLIONTH = Fraction(1, 10**6)


def divergence(noise: Any, steps: int, order: float) -> float:
    """D_α over the outputs −400 … 400."""
    outputs = range(2) if noise.name == "randomized-response" else range(-400, 401)
    terms = [
        float(noise.log_prob(o, 20)) + (order - 1) * float(noise.exact_log_ratio(o, 0, steps)) for o in outputs
    ]  # fmt: skip
    return float(np.logaddexp.reduce(terms)) / (order - 1)


@pytest.mark.parametrize("order", ["1.01", "2", "9.5", "64"])
@pytest.mark.parametrize(
    ("noise", "steps"),
    [(dp.Laplace(3, grid=1), 1), (dp.Laplace(3, grid=1), 4), (dp.RandomizedResponse("0.7"), 1), (dp.Laplace(8, grid=1), 7)],
)
def test_the_divergence_is_the_sum_over_outputs_rounded_up(noise: Any, steps: int, order: str) -> None:
    found = renyi([Part(noise, steps)], order)
    assert float(found) == pytest.approx(divergence(noise, steps, float(order)), rel=1e-9)
    assert renyi([Part(noise, steps, 5)], order) == pytest.approx(5 * found, rel=1e-12)


@pytest.mark.parametrize("order", ["1.5", "8"])
def test_the_gaussian_divergence_is_alpha_rho_and_bounds_the_discrete_one(order: str) -> None:
    noise = dp.Gaussian(4, grid=1)
    found = renyi([Part(noise, 3)], order)
    assert float(found) == pytest.approx(float(order) * 9 / 32, rel=1e-12)
    assert float(found) >= divergence(noise, 3, float(order)) * (1 - 1e-9)


def test_the_conversion_is_never_below_the_exact_composition_and_beats_the_peers_orders() -> None:
    parts = [Part(dp.Laplace(10), STEP, 10_000)]
    found = renyi_epsilon(parts, MILLIONTH)
    peer = rdp_privacy_accountant.RdpAccountant()
    peer.compose(dp_event.LaplaceDpEvent(10.0), 10_000)
    assert compose(parts, MILLIONTH).lower < found.upper <= peer.get_epsilon(1e-6)
    assert float(found.upper) == pytest.approx(98.1212, abs=1e-3)


def test_mixed_parts_add_up_and_stay_above_the_exact_composition() -> None:
    parts = [Part(dp.Laplace(5), STEP, 20), Part(dp.Gaussian(8), STEP, 10), Part(dp.RandomizedResponse("0.2"), 1, 30)]
    exact = compose(parts, MILLIONTH)
    assert exact.lower < renyi_epsilon(parts, MILLIONTH).upper < zcdp(parts, MILLIONTH).upper
    assert renyi_epsilon(parts, MILLIONTH).upper < exact.upper * Fraction(11, 10)


def test_rho_of_gaussian_and_of_pure_releases() -> None:
    total, missed = zcdp_rho([Part(dp.Gaussian(4), STEP, 2), Part(dp.Laplace(10), STEP, 3), Known(Fraction(1), MILLIONTH, 2)])
    assert total == 2 * Fraction(1, 32) + 3 * Fraction(1, 200) + 2 * Fraction(1, 2)
    assert missed == 2 * MILLIONTH


def test_zcdp_meets_its_own_curve() -> None:
    """Bun and Steinke 2016, Prop. 1.3, is looser: ε = ρ + 2√(ρ log(1/δ))."""
    parts = [Part(dp.Gaussian(10), STEP, 10_000)]
    loose = 50 + 2 * math.sqrt(50 * math.log(1e6))
    assert 96.717 < float(zcdp(parts, MILLIONTH).upper) < loose


def test_what_has_no_finite_figure_is_refused() -> None:
    with pytest.raises(InvalidValue, match="order"):
        renyi([Part(dp.Laplace(1), STEP)], 1)
    with pytest.raises(InvalidValue, match="parts"):
        renyi([Known(Fraction(1), MILLIONTH)], 2)
    for rule in (zcdp, renyi_epsilon):
        with pytest.raises(InvalidValue, match="delta"):
            rule([Part(dp.Laplace(1), STEP)], 0)
