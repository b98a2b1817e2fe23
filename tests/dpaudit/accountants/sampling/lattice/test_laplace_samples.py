"""Laplace noise on Poisson samples, against exact enumeration, one release in closed form, and a peer's figures."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit.accountants import Known, Part, compose, composed_delta
from dpaudit.accountants.pairs.finite_pair import FinitePair, geometric_pair, together
from dpaudit.accountants.sampling.lattice.laplace_samples import laplace_samples_delta, laplace_samples_epsilon
from dpaudit.accountants.sampling.lattice.loss_curves import PlainGaussian, SampledLaplace
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
        low, high = laplace_samples_delta([group], at)
        truth = _exact(group, at)
        assert float(low) <= truth * (1 + 1e-9)
        assert float(high) >= truth * (1 - 1e-9)
        assert float(high - low) <= 3e-3 * truth + 1e-12


def test_epsilon_and_delta_are_inverse_within_their_widths() -> None:
    group, delta = SampledLaplace(Fraction(1), 2**20, Fraction(1, 100), 100), Fraction(1, 10**6)
    ends = laplace_samples_epsilon([group], delta)
    assert 0 < ends.width < 2e-5
    assert laplace_samples_delta([group], ends.upper)[0] <= delta
    assert laplace_samples_delta([group], ends.lower * Fraction(9999, 10000))[1] > delta
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
    costs = [laplace_samples_epsilon([SampledLaplace(Fraction(1, 2), 64, Fraction(q, 20), 10)], delta) for q in (1, 5, 19)]
    assert costs[0].upper < costs[1].lower < costs[1].upper < costs[2].lower


def _mixed(groups: list[SampledLaplace], epsilon: Fraction) -> float:
    """δ(ε) by enumerating all outcomes of all releases, the larger of both directions."""
    pairs = [geometric_pair(group.epsilon / group.steps, group.steps) for group in groups]
    sampled = [pair.sampled(group.rate) if group.rate < 1 else pair for pair, group in zip(pairs, groups, strict=True)]
    sides = ([side for pair, g in zip(each, groups, strict=True) for side in [pair] * g.count]
             for each in (sampled, [pair.swapped() for pair in sampled]))  # fmt: skip
    return max(float(together(side).delta(epsilon)[1]) for side in sides)


MIXED = [
    [SampledLaplace(Fraction(1), 2, Fraction(1, 4), 2), SampledLaplace(Fraction(2), 3, Fraction(1, 10), 2)],
    [SampledLaplace(Fraction(3, 2), 3, Fraction(1, 5), 2), SampledLaplace(Fraction(1, 2), 2, Fraction(1), 2)],
    [SampledLaplace(Fraction(1), 1, Fraction(1, 3), 3), SampledLaplace(Fraction(1, 5), 1, Fraction(1), 3)],
    [SampledLaplace(Fraction(k + 1, 4), k + 1, Fraction(k + 1, 8), 1) for k in range(4)],
]


@pytest.mark.parametrize("groups", MIXED)
def test_different_releases_enclose_the_enumeration(groups: list[SampledLaplace]) -> None:
    top = sum(group.count * math.log1p(float(group.rate) * math.expm1(float(group.epsilon))) for group in groups)
    for share in (0.15, 0.7):
        at = Fraction(round(share * top, 6))
        low, high = laplace_samples_delta(groups, at)
        truth = _mixed(groups, at)
        assert float(low) <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= float(high) <= truth * (1 + 1e-3)
        assert float(low) >= truth * 0.97
        ends = laplace_samples_epsilon(groups, Fraction(truth))
        assert float(ends.lower) <= float(at) * (1 + 1e-9)
        assert float(at) * (1 - 1e-9) <= float(ends.upper) <= float(at) * 1.002


def test_a_gaussian_release_beside_samples_agrees_with_quadrature() -> None:
    """δ of a sum is the mean of δ of the Gaussian at what the Laplace losses leave."""
    group, mu = SampledLaplace(Fraction(1), 2, Fraction(1, 4), 2), 0.5
    for epsilon in (0.5, 1.0):
        truth = 0.0
        for removed in (True, False):
            pair = geometric_pair(group.epsilon / group.steps, group.steps).sampled(group.rate)
            both = together([pair if removed else pair.swapped()] * group.count)
            total = 0.0
            for p, q in both.outcomes:
                left = epsilon - math.log(float(p) / float(q))
                normal = [math.erfc((left / mu + sign * mu / 2) / math.sqrt(2)) / 2 for sign in (-1, 1)]
                total += float(p) * (normal[0] - math.exp(left) * normal[1])
            truth = max(truth, total)
        low, high = laplace_samples_delta([group, PlainGaussian(Fraction(1, 4))], Fraction(epsilon))
        assert 0.99 * truth <= float(low) <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= float(high) <= truth * (1 + 1e-3)


def test_the_order_of_kinds_does_not_matter_and_one_kind_may_be_split() -> None:
    delta = Fraction(1, 10**5)
    one, other = SampledLaplace(Fraction(1), 64, Fraction(1, 10), 20), SampledLaplace(Fraction(1, 2), 64, Fraction(1, 5), 10)
    first, second = laplace_samples_epsilon([one, other], delta), laplace_samples_epsilon([other, one], delta)
    assert first == second
    halves = [Part(Laplace(2), int(1 / GRID), 10, sampling=Fraction(1, 10))] * 2
    whole = [Part(Laplace(2), int(1 / GRID), 20, sampling=Fraction(1, 10))]
    assert compose(halves, delta) == compose(whole, delta)


def test_mixed_parts_cost_less_than_the_sum_of_pure_costs_and_more_than_each() -> None:
    delta, half = Fraction(1, 10**5), int(1 / GRID)
    parts = [
        Part(Laplace(2), half, 20, sampling=Fraction(1, 10)),
        Part(Laplace(1), half, 10, sampling=Fraction(1, 20)),
        Part(Laplace(4), half, 5),
        Known(Fraction(1, 10), Fraction(1, 10**7), 2),
    ]
    found = compose(parts, delta)
    pure = sum((part.pure_one() or 0) * part.count for part in parts if isinstance(part, Part)) + Fraction(1, 5)
    assert found.upper < Fraction(3, 4) * pure
    assert found.upper > max(compose([part], delta).lower for part in parts)
    low, high = composed_delta(parts, found.upper)
    assert low <= delta <= high * Fraction(101, 100)
