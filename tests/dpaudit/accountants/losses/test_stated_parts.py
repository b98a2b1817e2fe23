"""Compositions of stated guarantees against enumeration, and against peers; every bound from above."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.rdp import rdp_privacy_accountant

from dpaudit.accountants.losses.laws.privacy_loss import LatticeLoss
from dpaudit.accountants.losses.numerical import compose, composed_delta
from dpaudit.accountants.losses.parts import AnyPart, Known, stated_success
from dpaudit.accountants.losses.renyi import renyi_epsilon
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve, StatedLoss, stated_law

MILLIONTH = Fraction(1, 10**6)
INFINITE = mpmath.inf


def atoms(part: Known | LossPart) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """(loss, probability) of one release, the infinite loss included."""
    if isinstance(part, LossPart):
        pairs = [(mpmath.mpf(a.numerator) / a.denominator, mpmath.mpf(b.numerator) / b.denominator) for a, b in part.losses]
        return [*pairs, (INFINITE, mpmath.mpf(part.infinite.numerator) / part.infinite.denominator)]
    e, d = (mpmath.mpf(x.numerator) / x.denominator for x in (part.epsilon, part.delta))
    keep = (1 - d) / (1 + mpmath.exp(-e))
    return [(e, keep), (-e, (1 - d) - keep), (INFINITE, d)]


def enumerated(parts: list[Known | LossPart], level: Fraction) -> mpmath.mpf:
    """δ(ε) over all combinations of losses."""
    with mpmath.workdps(40):
        epsilon = mpmath.mpf(level.numerator) / level.denominator
        laws = [atoms(part) for part in parts for _ in range(part.count)]
        total = mpmath.mpf(0)
        for combination in itertools.product(*laws):
            loss = sum(each for each, _ in combination)
            if loss > epsilon:
                chance = mpmath.fprod(share for _, share in combination)
                total += chance * (1 if loss == INFINITE else 1 - mpmath.exp(epsilon - loss))
        return +total


SKEWED = LossPart(
    ((Fraction(6, 5), Fraction(1, 2)), (Fraction(-1, 3), Fraction(3, 10)), (Fraction(-1), Fraction(1, 5))), Fraction(0), 2
)
FAILING = LossPart(((Fraction(1), Fraction(7, 10)), (Fraction(-1, 2), Fraction(29, 100))), Fraction(1, 100), 3)
CASES: list[list[Known | LossPart]] = [
    [Known(Fraction(1), Fraction(1, 100), 2), Known(Fraction(1, 2), Fraction(1, 50), 3)],
    [SKEWED],
    [FAILING, Known(Fraction(3, 10), Fraction(1, 1000))],
    [SKEWED, FAILING],
]


@pytest.mark.parametrize("parts", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("epsilon", ["0", "0.4", "1.7", "3.3"])
def test_delta_is_that_of_all_combinations_and_never_below(parts: list[AnyPart], epsilon: str) -> None:
    truth = enumerated(parts, Fraction(epsilon))  # type: ignore[arg-type]
    low, high = composed_delta(parts, epsilon)
    assert low <= float(truth) * (1 + 1e-12)
    assert high >= Fraction(mpmath.nstr(truth, 35)) * (1 - Fraction(1, 10**30))  # as exact as the enumeration
    assert float(high) == pytest.approx(float(truth), rel=1e-6, abs=1e-12)


def test_failures_multiply_and_the_sum_of_deltas_would_be_more() -> None:
    parts = [Known(Fraction(1), Fraction(1, 10), 5)]
    assert stated_success(parts) == Fraction(9, 10) ** 5
    at_all = compose(parts, 1 - Fraction(9, 10) ** 5)
    assert at_all.upper == 5
    assert float(composed_delta(parts, "5")[1]) == pytest.approx(1 - 0.9**5)


def test_many_failures_are_rounded_up() -> None:
    parts = [Known(Fraction(0), Fraction(1, 10**7), 100_000)]
    fails = 1 - stated_success(parts)
    with mpmath.workdps(60):
        truth = Fraction(mpmath.nstr(1 - (1 - mpmath.mpf(10) ** -7) ** 100_000, 50))
    assert truth * (1 - Fraction(1, 10**45)) <= fails <= truth * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("seed", range(12))
def test_any_law_meets_its_enumeration(seed: int) -> None:
    """Losses on quarters; the bound needs no condition on Σ p e^(−loss)."""
    rng = np.random.default_rng(seed)
    size, count, level = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(0, 13))
    pairs = [(int(rng.integers(-8, 9)), int(rng.integers(1, 51))) for _ in range(size)]
    merged: dict[Fraction, Fraction] = {}
    whole = sum(weight for _, weight in pairs)
    for loss, weight in pairs:
        merged[Fraction(loss, 4)] = merged.get(Fraction(loss, 4), Fraction(0)) + Fraction(weight, whole)
    part = LossPart(tuple(sorted(merged.items(), reverse=True)), Fraction(0), count)
    epsilon = Fraction(level, 5)
    high, truth = composed_delta([part], epsilon)[1], enumerated([part], epsilon)
    assert float(high) >= float(truth) * (1 - 1e-12)
    assert float(high) <= float(truth) * (1 + 1e-5) + 1e-12


def test_a_long_law_is_moved_to_a_lattice_and_only_rises() -> None:
    rng = np.random.default_rng(5)
    losses = sorted({Fraction(int(k), 999_983) for k in rng.integers(-(10**6), 10**6, 300)}, reverse=True)
    exact = stated_law(tuple((loss, Fraction(1, len(losses))) for loss in losses[:100]), Fraction(100, len(losses)))
    moved = stated_law(tuple((loss, Fraction(1, len(losses))) for loss in losses), Fraction(1))
    assert isinstance(exact, StatedLoss)
    assert isinstance(moved, LatticeLoss)
    part = LossPart(tuple((loss, Fraction(1, len(losses))) for loss in losses), Fraction(0))
    for epsilon in (0.25,):
        truth = sum(-math.expm1(epsilon - float(loss)) for loss in losses if loss > epsilon) / len(losses)
        high = float(composed_delta([part], Fraction(epsilon))[1])
        assert truth * (1 - 1e-12) <= high <= truth * (1 + 1e-3)


def test_known_guarantees_meet_a_peer_that_composes_the_same_randomised_response() -> None:
    """dp-accounting rounds losses up to a grid."""
    peer = pld.from_privacy_parameters(DifferentialPrivacyParameters(0.5, 1e-8)).self_compose(20).get_epsilon_for_delta(1e-6)
    ours = compose([Known(Fraction(1, 2), Fraction(1, 10**8), 20)], MILLIONTH).upper
    assert float(ours) <= peer * (1 + 1e-9)
    assert float(ours) == pytest.approx(peer, rel=1e-3)


def test_a_curve_is_known_on_its_hull_alone() -> None:
    curve = RenyiCurve(((Fraction(2), Fraction(1, 5)), (Fraction(3), Fraction(2)), (Fraction(5), Fraction(1, 2))))
    assert curve.moment(Fraction(1)) == Fraction(1, 5)
    assert curve.moment(Fraction(1, 2)) == Fraction(1, 10)  # K is convex with K(0) = 0
    assert curve.moment(Fraction(4)) == 2
    assert curve.moment(Fraction(2)) == Fraction(1, 5) + (2 - Fraction(1, 5)) / 3  # D is 2 at order 3: the line is better
    assert curve.moment(Fraction(41, 10)) is None


@pytest.mark.parametrize("orders", [(2,), (2, 3, 40), (5, 7), (2, 4, 8, 16, 32)])
def test_interpolation_stays_above_the_gaussian_whose_points_it_has(orders: tuple[int, ...]) -> None:
    """The true K of a Gaussian is ρc(c+1): exact at the points, below the lines between them."""
    rho = Fraction(3, 7)
    curve = RenyiCurve(tuple((Fraction(order), rho * order) for order in orders))
    for c in (Fraction(k, 4) for k in range(1, 160)):
        found = curve.moment(c)
        assert (found is None) == (c > max(orders) - 1)
        if found is not None:
            assert found >= rho * c * (c + 1)
            assert (found == rho * c * (c + 1)) == (c + 1 in orders)


def test_a_twin_that_extends_a_curve_beyond_its_last_order_would_be_wrong() -> None:
    """Monotone upward holds, downward extension does not: D at order 8 of a Gaussian is above its D at order 4."""
    rho = Fraction(1, 4)
    curve = RenyiCurve(((Fraction(4), 4 * rho),))
    assert curve.moment(Fraction(7)) is None
    assert curve.curve[-1][1] * 7 < rho * 7 * 8


def test_the_conversion_of_a_curve_is_at_least_as_good_as_a_peer_at_the_same_orders() -> None:
    orders = [1.5, 2, 3, 4, 6, 8, 16, 32, 64]
    divergences = [0.02 * a for a in orders]
    peer, _ = rdp_privacy_accountant.compute_epsilon(orders, divergences, 1e-6)
    ours = renyi_epsilon([RenyiCurve(tuple((Fraction(a), Fraction(2, 100) * Fraction(a)) for a in orders))], MILLIONTH)
    best = renyi_epsilon([Concentrated(Fraction(2, 100))], MILLIONTH)  # all orders
    assert best.upper <= ours.upper
    assert float(ours.upper) <= peer * (1 + 1e-12)
