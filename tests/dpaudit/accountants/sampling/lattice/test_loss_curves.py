"""Curves of single releases against enumeration and closed forms; laws on a grid lie on their side of them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit.accountants.losses.gaussian_sum import gaussian_sum_delta
from dpaudit.accountants.pairs.finite_pair import geometric_pair
from dpaudit.accountants.sampling.groups import DIRECTIONS, Direction
from dpaudit.accountants.sampling.lattice.loss_curves import Group, PlainGaussian, SampledLaplace, curve_of, grid_law
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw
from dpaudit.claims.balls import ball, precision

LAPLACE = [SampledLaplace(Fraction(2), 5, Fraction(1, 10)), SampledLaplace(Fraction(1), 1, Fraction(1)),
           SampledLaplace(Fraction(1, 2), 40, Fraction(9, 10))]  # fmt: skip


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("group", LAPLACE)
def test_the_curve_of_laplace_noise_is_that_of_its_outcomes(group: SampledLaplace, direction: Direction) -> None:
    pair = geometric_pair(group.epsilon / group.steps, group.steps)
    sampled = pair.sampled(group.rate) if group.rate < 1 else pair
    side = sampled if direction == "remove" else sampled.swapped()
    with precision(256):
        curve = curve_of(group, direction)
        for share in range(1, 20):
            at = Fraction(float(curve.least.mid()) + share / 20 * float((curve.most - curve.least).mid()))
            low, high = side.delta(at)
            found = curve.at(ball(at).exp()).height
            assert float(low) - 1e-15 <= float(found.mid()) <= float(high) + 1e-15


def test_the_curve_of_gaussian_noise_is_the_closed_form() -> None:
    with precision(256):
        curve = curve_of(PlainGaussian(Fraction(1, 4)), "remove")
        for epsilon in (Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(3)):
            low, high = gaussian_sum_delta(Fraction(1, 4), epsilon)
            assert float(low) * (1 - 1e-12) <= float(curve.at(ball(epsilon).exp()).height.mid()) <= float(high) * (1 + 1e-12)


def value(law: GridLaw, unit: float, epsilon: float) -> float:
    """π(e^ε) of a law on a grid."""
    losses = [law.offset + unit * i for i in range(len(law.masses))]
    finite = (m * (1 - math.exp(epsilon - loss)) for m, loss in zip(law.masses, losses, strict=True) if loss > epsilon)
    return law.infinite + math.fsum(finite)


@pytest.mark.parametrize("group", [*LAPLACE, PlainGaussian(Fraction(1, 4))])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_laws_on_a_grid_lie_on_their_side(group: Group, direction: Direction) -> None:
    """Also where the unit has nothing to do with the largest loss, and between the places of the grid."""
    with precision(256):
        curve = curve_of(group, direction)
        least, span = float(curve.least.mid()) + 1e-9, float((curve.most - curve.least).mid())
        unit = span / 37.3
        laws = [grid_law(curve, least, unit, cells, up=up) for cells, up in ((38, True), (37, False))]
        apart = []
        for share in range(-2, 78):
            at = least + span * share / 75
            truth = float(curve.at(ball(Fraction(at)).exp()).height.mid()) if share > 0 else None
            above, below = (value(law, unit, at) for law in laws)
            if truth is None:
                assert above >= 1 - math.exp(at) - 1e-12
                assert below <= max(0.0, 1 - math.exp(at)) + 1e-7 or at > least
            else:
                truth = max(truth, 0.0) if share < 75 else 0.0
                assert below <= truth * (1 + 1e-9) + 1e-14
                assert truth * (1 - 1e-9) - 1e-14 <= above or share >= 75
                apart.append(above - below)
        assert 0 < max(apart) < (0.1 if isinstance(group, SampledLaplace) else 1.0)  # 37 cells are few for 32 deviations
