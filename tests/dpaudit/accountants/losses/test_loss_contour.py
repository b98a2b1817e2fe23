"""The contour against exact sums: at any step it is an upper bound, smoothed or not, and its lower end is a lower one."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit.accountants.losses.laws.privacy_loss import LaplaceLoss
from dpaudit.accountants.losses.loss_contour import Contour
from dpaudit.accountants.losses.loss_plans import ContourPlan, plan, saddle_at
from dpaudit.claims.balls import precision
from tests.dpaudit.accountants.losses.binomial_law import PARTS, exact

BITS = 300


@pytest.mark.parametrize("factor", [0.3, 1, 2, 3, 5])
@pytest.mark.parametrize("target", [1e-3, 1e-9])
def test_at_any_step_the_sum_is_an_upper_bound(factor: float, target: float) -> None:
    at = saddle_at(PARTS, math.log(target), "log_delta")
    wide = replace(at, step=at.step * factor)
    with precision(BITS):
        low, high = Contour(PARTS, wide, plan(PARTS, wide, inner=False)).delta(Fraction(at.slack))
        truth = exact(Fraction(at.slack))
        assert float(low.lower()) <= truth * (1 + 1e-12)
        assert truth <= float(high.upper()) * (1 + 1e-12)


def test_a_step_of_five_widths_shows_what_the_aliases_add() -> None:
    """The twin: there the sum is far above, so the bound above is not kept by exactness alone."""
    at = saddle_at(PARTS, math.log(1e-6), "log_delta")
    wide = replace(at, step=at.step * 8)
    with precision(BITS):
        high = Contour(PARTS, wide, plan(PARTS, wide, inner=False)).delta(Fraction(at.slack))[1]
    assert float(high.upper()) > 1.05 * exact(Fraction(at.slack))


@pytest.mark.parametrize("tau", [0.1, 0.03, 0.01])
def test_smoothing_encloses_the_truth(tau: float) -> None:
    """τ and 2τ bound δ from both sides; nodes up to where the smoothing ends the integrand."""
    at = saddle_at(PARTS, math.log(1e-4), "log_delta")
    nodes = math.ceil(math.sqrt(80) / tau / at.step)
    with precision(BITS):
        smoothed = Contour(PARTS, at, ContourPlan([(0, nodes + 1)], tau, 1e-15, False, 0.0))
        low, high = smoothed.delta(Fraction(at.slack))
    truth = exact(Fraction(at.slack))
    assert float(low.lower()) <= truth <= float(high.upper())
    assert float(high.upper()) - float(low.lower()) <= 3 * tau * truth * at.c


@pytest.mark.parametrize("count", [1, 5, 40])
def test_leaving_out_the_atoms_leaves_out_just_them(count: int) -> None:
    parts = [(LaplaceLoss(Fraction("0.5"), 2**20), count)]
    at = saddle_at(parts, math.log(1e-3), "log_delta")
    e = 0.5
    with precision(BITS):
        whole = [float(end) for end in Contour(parts, at, plan(parts, at, inner=False)).delta(Fraction(at.slack))]
        inner = [float(end) for end in Contour(parts, at, plan(parts, at, inner=True)).delta(Fraction(at.slack))]
    epsilon = count * e - at.slack
    r = math.exp(-e / 2**20)
    atoms = math.fsum(
        math.comb(count, i) * (1 + r) ** -count * math.exp(-e * i) * max(0.0, -math.expm1(epsilon - (count - 2 * i) * e))
        for i in range(count + 1)
        if (count - 2 * i) * e > epsilon
    )
    assert whole[0] <= inner[1] + atoms
    assert inner[0] + atoms <= whole[1] * (1 + 1e-12)
    assert inner[1] - inner[0] <= whole[1] - whole[0] + 1e-12


@pytest.mark.parametrize("away", [-0.05, 0.0, 0.05])
def test_floats_of_a_contour_lie_in_its_enclosure(away: float) -> None:
    at = saddle_at(PARTS, math.log(1e-6), "log_delta")
    with precision(BITS):
        curve = Contour(PARTS, at, plan(PARTS, at, inner=False))
        low, high = (float(end) for end in curve.delta(Fraction(at.slack + away)))
        value, slope = curve.float_delta(at.slack + away)
        beside = curve.float_delta(at.slack + away - 1e-6)[0]
    assert low * (1 - 1e-9) <= math.exp(value) <= high * (1 + 1e-9)
    assert (beside - value) / 1e-6 == pytest.approx(slope, rel=1e-3)
