"""A loss built from points of a curve: never below the truth, and close to it where the truth is known."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

import dpaudit as dp
from dpaudit.accountants import Part, amplify, compose, kairouz_delta, kairouz_epsilon
from dpaudit.accountants.losses.laws.shuffled_loss import hull, loss_from_curve, shuffled_loss
from dpaudit.accountants.losses.loss_lattice import lattice_sum
from dpaudit.accountants.losses.numerical import composed_delta
from dpaudit.claims.balls import precision

STEP = 2**20
MILLIONTH = Fraction(1, 10**6)
K = 40


def curve(delta: Fraction) -> Fraction:
    """A mechanism whose curve is known: K randomised responses."""
    return kairouz_epsilon("0.05", "0", K, delta).upper


@pytest.fixture(scope="module")
def built() -> tuple[object, Fraction]:
    return loss_from_curve(curve, 9)


def test_the_law_has_the_mass_that_is_not_left_out(built: tuple[object, Fraction]) -> None:
    law, missed = built
    assert missed == Fraction(1, 10**9)
    assert 1 - Fraction(2, 10**9) <= sum(law.masses) <= 1 + Fraction(1, 10**30)


@pytest.mark.parametrize("share", [1, 5, 10, 30, 50, 60])
def test_its_curve_is_above_the_true_one_and_close(built: tuple[object, Fraction], share: int) -> None:
    law, missed = built
    epsilon = law.top * share / 64
    with precision(256):
        mine = float(lattice_sum([(law, 1)], 2 * law.top, -30.0).delta(law.top - epsilon)[1]) + float(missed)
    truth = float(kairouz_delta("0.05", "0", K, epsilon)[0])
    assert truth <= mine <= truth * 1.3 + 2e-9


def test_its_composition_is_above_the_true_one_and_close(built: tuple[object, Fraction]) -> None:
    """Five of them are 5K responses."""
    law, missed = built
    with precision(256):
        at = [float(lattice_sum([(law, 5)], 10 * law.top, -30.0).delta(5 * law.top - e)[1]) for e in (Fraction(1), Fraction(2))]
    for found, e in zip(at, (1, 2), strict=True):
        truth = float(kairouz_delta("0.05", "0", 5 * K, e)[0])
        assert truth <= found + 5 * float(missed) <= truth * 1.2


def test_the_law_is_the_same_with_its_sides_changed(built: tuple[object, Fraction]) -> None:
    """P(L = l) = e^l Q(L = l) and, by symmetry, P(L = −l) = e^{−l} P(L = l)."""
    law, _ = built
    masses = [float(mass) for mass in law.masses]
    for i, mass in enumerate(masses[:64]):
        below = masses[-1 - i]
        level = float(law.top - i * law.gap)
        assert below == pytest.approx(mass * math.exp(-level), abs=1e-9)


def test_a_hull_is_convex_and_below_its_points() -> None:
    points = [(Fraction(2), Fraction(1, 4)), (Fraction(3), Fraction(1, 5)), (Fraction(4), Fraction(1, 100))]
    corners = hull(points)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(corners)]
    assert slopes == sorted(slopes)
    assert (Fraction(3), Fraction(1, 5)) not in corners
    assert corners[0] == (0, 1)


def test_batches_of_the_same_clients_cost_less_than_their_sum_and_more_than_one() -> None:
    batch = Part(dp.Laplace(1), STEP, shuffled=10_000)
    one = amplify(1, 10_000, MILLIONTH, attack=False)
    single, ten = (compose([Part(dp.Laplace(1), STEP, k, shuffled=10_000)], MILLIONTH).upper for k in (1, 10))
    assert one.lower * Fraction(5, 10) <= single <= one.upper * Fraction(101, 100)
    assert single < ten < 10 * amplify(1, 10_000, MILLIONTH / 10, attack=False).upper
    assert composed_delta([batch], 1) == (0, 0)


def test_a_batch_too_small_to_hide_in_costs_its_pure_epsilon() -> None:
    law, _ = shuffled_loss(dp.Laplace(1), STEP, 2, 9)
    assert float(law.top) == pytest.approx(1, rel=1e-6)
    assert compose([Part(dp.Laplace(1), STEP, 3, shuffled=2)], MILLIONTH).upper <= 3
