"""Discrete Gaussian noise: exact on coarse grids, by comparison with continuous noise on fine ones."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants import Known, Part, compose, composed_delta
from dpaudit.accountants.losses import parts
from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LatticeLoss, ResponseLoss
from dpaudit.accountants.losses.parts import lower_losses, upper_losses

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(("sigma", "steps"), [("3", 1), ("5", 2), ("40", 7)])
def test_one_coarse_gaussian_release_has_the_curve_of_its_law(sigma: str, steps: int) -> None:
    """noise/gaussian.py certifies the curve of one release by another route (Canonne et al. 2020, Thm 7)."""
    noise = dp.Gaussian(sigma, grid=1)
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(3, 2)):
        low, high = composed_delta([Part(noise, steps)], epsilon)
        truth = noise.delta(epsilon, steps)
        assert float(low) <= float(truth) * (1 + 1e-9)
        assert float(truth) <= float(high) * (1 + 1e-9)
        assert float(high) == pytest.approx(float(low), rel=1e-6)


@pytest.mark.parametrize("count", [1, 6])
def test_the_comparison_with_continuous_noise_encloses_the_exact_law(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    releases = [Part(dp.Gaussian(60, grid=1), 20, count)]
    exact = compose(releases, MILLIONTH)
    assert isinstance(upper_losses(releases, MILLIONTH).laws[0][0], LatticeLoss)
    monkeypatch.setattr(parts, "_COARSE", 0)
    assert isinstance(upper_losses(releases, MILLIONTH).laws[0][0], GaussianLoss)
    compared = compose(releases, MILLIONTH)
    assert compared.lower <= exact.upper
    assert exact.lower <= compared.upper
    assert compared.upper - compared.lower < compared.upper / 100


def test_on_the_default_grid_upper_and_lower_differ_by_less_than_a_billionth() -> None:
    found = compose([Part(dp.Gaussian(2), 2**20, 9)], MILLIONTH)
    assert found.upper - found.lower < found.upper / 10**9


def test_what_is_left_out_is_far_below_delta_and_counted() -> None:
    for delta in (MILLIONTH, Fraction(1, 10**60)):
        added = upper_losses([Part(dp.Gaussian(2), 2**20, 9, coordinates=100)], delta).added
        assert 0 < added < delta / 10**9
        lower = lower_losses([Part(dp.Gaussian(2), 2**20, 9)], delta)
        assert lower is not None
        assert lower.added < 0


def test_several_bits_are_as_many_responses_and_equal_parts_are_counted_together() -> None:
    bits = upper_losses([Part(dp.RandomizedResponse(1), 3, 2), Part(dp.RandomizedResponse(1), 1)], MILLIONTH)
    assert bits.laws == ((ResponseLoss(Fraction(1)), 7),)


def test_no_lower_bound_is_claimed_for_what_is_not_known_exactly() -> None:
    assert lower_losses([Known(Fraction(1))], MILLIONTH) is None
    assert compose([Known(Fraction(1, 10), count=50)], MILLIONTH).lower == 0
