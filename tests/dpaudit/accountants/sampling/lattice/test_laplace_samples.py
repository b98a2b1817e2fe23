"""Laplace noise on Poisson samples, against exact enumeration, one release in closed form, and a peer's figures."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit.accountants import Part, compose, composed_delta
from dpaudit.accountants.pairs.finite_pair import FinitePair, geometric_pair, together
from dpaudit.accountants.sampling.lattice.laplace_samples import (
    SampledLaplace,
    laplace_samples_delta,
    laplace_samples_epsilon,
)
from dpaudit.noise import GRID, Laplace


def _exact(group: SampledLaplace, epsilon: Fraction) -> float:
    pair = geometric_pair(group.epsilon / group.steps, group.steps).sampled(group.rate)
    sides: list[FinitePair] = [together([side] * group.count) for side in (pair, pair.swapped())]
    return max(float(side.delta(epsilon)[1]) for side in sides)


@pytest.mark.parametrize(("epsilon", "steps", "rate", "count"), [("1", 1, "1/2", 1), ("2", 3, "1/5", 4), ("1", 2, "1/100", 5)])
def test_delta_encloses_the_enumeration(epsilon: str, steps: int, rate: str, count: int) -> None:
    group = SampledLaplace(Fraction(epsilon), steps, Fraction(rate), count)
    top = count * math.log1p(float(group.rate) * math.expm1(float(group.epsilon)))
    for share in (0.1, 0.6):
        at = Fraction(round(share * top, 6))
        low, high = laplace_samples_delta(group, at)
        truth = _exact(group, at)
        assert float(low) <= truth * (1 + 1e-9)
        assert float(high) >= truth * (1 - 1e-9)
        assert float(high - low) <= 3e-3 * truth + 1e-12


def test_epsilon_and_delta_are_inverse_within_their_widths() -> None:
    group, delta = SampledLaplace(Fraction(1), 2**20, Fraction(1, 100), 100), Fraction(1, 10**6)
    ends = laplace_samples_epsilon(group, delta)
    assert 0 < ends.width < 2e-5
    assert laplace_samples_delta(group, ends.upper)[0] <= delta
    assert laplace_samples_delta(group, ends.lower * Fraction(9999, 10000))[1] > delta
    assert float(ends.upper) < 0.3878776130  # dp-accounting 0.6.0, losses rounded up to multiples of 1e-4


def test_composition_uses_it_and_stays_below_the_sum_of_pure_costs() -> None:
    part = Part(Laplace(2), int(1 / GRID), 20, sampling=Fraction(1, 10))
    found, pure = compose([part], Fraction(1, 10**5)), part.pure() or Fraction(0)
    assert 0 < found.lower <= found.upper < Fraction(9, 10) * pure
    assert composed_delta([part], pure) == (0, 0)
    low, high = composed_delta([part], found.upper)
    assert low <= Fraction(1, 10**5) <= high * Fraction(10001, 10000)


def test_more_sampling_costs_more() -> None:
    delta = Fraction(1, 10**5)
    costs = [laplace_samples_epsilon(SampledLaplace(Fraction(1, 2), 64, Fraction(q, 20), 10), delta) for q in (1, 5, 19)]
    assert costs[0].upper < costs[1].lower < costs[1].upper < costs[2].lower
