"""Moments of charges against sums over outputs: from above, by the law of the noise, never above randomised response."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accountants.losses.moments import part_moment
from dpaudit.accountants.losses.parts import Part
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Charge
from dpaudit.ledger.spending.charge_moments import bounded_range, charge_moment, laplace, response, sampled_gaussian

ORDERS = [Fraction(1, 2), Fraction(3), Fraction(20)]


def charge(epsilon: str | None, delta: str = "0", **facts: Any) -> Charge:
    return Charge(None if epsilon is None else Fraction(epsilon), Fraction(delta), facts={k: str(v) for k, v in facts.items()})


@pytest.mark.parametrize("c", ORDERS)
@pytest.mark.parametrize(
    "noise",
    [
        dp.Laplace(3, grid=1),
        dp.Laplace("0.5", grid=1),
        dp.RandomizedResponse("0.7"),
        dp.KaryResponse("1", 5),
        dp.UnaryResponse(1, 4),
    ],
)
@pytest.mark.parametrize("steps", [1, 4])
def test_the_filter_and_the_accountant_agree_on_every_law(noise: Any, steps: int, c: Fraction) -> None:
    """Two derivations: closed forms here, the laws of the accountants there."""
    if noise.alphabet is not None and steps > 1:
        return
    epsilon = noise.epsilon(steps)
    facts = {**noise.parameters(), "mechanism": noise.name, "sensitivity": "1", "steps": str(steps), "coordinates": "1"}
    found = charge_moment(Charge(epsilon, facts=facts), c)[0]
    truth = part_moment(Part(noise, steps), c, Fraction(1, 10**6))
    assert truth is not None
    assert float(found) == pytest.approx(float(truth[0]), rel=1e-12)
    assert found <= response(epsilon, c)


def test_what_is_not_known_better_counts_as_randomised_response() -> None:
    plain = response(Fraction(1), Fraction(3))
    assert charge_moment(charge("1"), Fraction(3)) == (plain, 0)
    assert charge_moment(charge("1", "1e-6"), Fraction(3)) == (plain, Fraction(1, 10**6))
    assert charge_moment(charge("1", mechanism="laplace", scale=1, grid=1, steps=1, coordinates=2), Fraction(3))[0] == plain
    assert (
        charge_moment(charge("1", mechanism="laplace", scale=2, grid=1, steps=1, coordinates=1), Fraction(3))[0] == plain
    )  # charged more than it costs
    with pytest.raises(InvalidValue):
        charge_moment(charge(None), Fraction(3))


@pytest.mark.parametrize("c", ORDERS)
def test_randomised_response_and_bounded_range_meet_their_sums(c: Fraction) -> None:
    e, order = 0.8, float(c)
    p = math.exp(e) / (1 + math.exp(e))
    truth = math.log(p * math.exp(order * e) + (1 - p) * math.exp(-order * e))
    assert truth * (1 - 1e-14) <= float(response(Fraction(4, 5), c)) <= truth * (1 + 1e-12)
    t = np.linspace(0, e, 100_001)
    q = (math.exp(e) - np.exp(t)) / math.expm1(e)
    ranged = float(np.log(q * np.exp(order * t) + (1 - q) * np.exp(order * (t - e))).max())
    assert ranged * (1 - 1e-12) <= float(bounded_range(Fraction(4, 5), c)) <= ranged * (1 + 1e-6)
    assert bounded_range(Fraction(4, 5), c) < response(Fraction(4, 5), c)
    assert charge_moment(charge("4/5", mechanism="exponential"), c)[0] == bounded_range(Fraction(4, 5), c)


@pytest.mark.parametrize("alpha", [2, 5, 12])
def test_samples_meet_quadrature_in_both_directions(alpha: int) -> None:
    """E w^α for removing and E w^(1−α) for adding, sensitivity 1, σ = 1.5, q = 0.05; on the grid of integers too, σ = 1.5."""
    sigma, q = 1.5, 0.05
    found = float(sampled_gaussian(Fraction(1, 2) / Fraction(9, 4), Fraction(1, 20), Fraction(alpha - 1)))
    for points, step in ((np.arange(-30, 40, 1e-3), 1e-3), (np.arange(-30.0, 40.0), 1.0)):
        weight = np.exp(-(points**2) / (2 * sigma**2))
        weight /= weight.sum()
        w = 1 - q + q * np.exp((2 * points - 1) / (2 * sigma**2))
        remove, add = (math.log((weight * w**power).sum()) for power in (alpha, 1 - alpha))
        assert found >= max(remove, add) * (1 - 1e-9)
        assert step == 1.0 or found == pytest.approx(remove, rel=1e-6)
    with pytest.raises(InvalidValue, match="order"):
        sampled_gaussian(Fraction(1), Fraction(1, 2), Fraction(1, 2))


def test_a_longer_grid_comes_nearer_to_continuous_noise() -> None:
    """Continuous Laplace: K = ln((c+1)/(2c+1) e^{cε} + c/(2c+1) e^{−(c+1)ε}) (Mironov 2017, Prop. 6)."""
    c, e = 3.0, 0.5
    truth = math.log((c + 1) / (2 * c + 1) * math.exp(c * e) + c / (2 * c + 1) * math.exp(-(c + 1) * e))
    assert float(laplace(Fraction(1, 2), 2**20, Fraction(3))) == pytest.approx(truth, rel=1e-9)
    assert laplace(Fraction(1, 2), 1, Fraction(3)) == response(Fraction(1, 2), Fraction(3))


@pytest.mark.parametrize("mechanism", ["noisy-max", "permute-and-flip", "sparse-vector", "another"])
def test_a_selection_with_a_scale_is_not_taken_for_laplace_noise(mechanism: str) -> None:
    """Where all scores move one way it costs Δ/scale, as one number with Laplace noise does; its law is another."""
    facts = {"scale": 100, "grid": 1, "steps": 100, "coordinates": 1}
    found = charge_moment(charge("1", mechanism=mechanism, **facts), Fraction(3))[0]
    assert found == response(Fraction(1), Fraction(3))
    assert (
        charge_moment(charge("1", mechanism="laplace", **facts), Fraction(3))[0] == laplace(Fraction(1), 100, Fraction(3)) < found
    )


@pytest.mark.parametrize("c", ORDERS)
def test_equal_releases_cost_as_many_times_one(c: Fraction) -> None:
    """Ten selections of ε-bounded range are none of 10ε: where a later one depends on an earlier, losses spread further."""
    ten = charge_moment(charge("4", mechanism="exponential", count=10), c)[0]
    assert ten == 10 * bounded_range(Fraction(2, 5), c)
    assert charge_moment(charge("4", mechanism="another", count=10), c)[0] == 10 * response(Fraction(2, 5), c)
    assert charge_moment(charge("4", "1e-9", mechanism="exponential", count=10), c)[0] == response(Fraction(4), c)


def test_equal_releases_from_fresh_samples_add_up_their_moments() -> None:
    """Not those of one sample that all of them share, which cost more."""
    facts = {"sigma": "2", "sensitivity": "1", "sampling": "0.1"}
    c = Fraction(7)
    one, many = (charge_moment(charge(None, **facts, count=count), c)[0] for count in (1, 50))
    assert many == 50 * one
    assert many < sampled_gaussian(50 * Fraction(1, 8), Fraction(1, 10), c)
