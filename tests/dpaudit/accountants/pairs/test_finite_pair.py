"""Pairs with finitely many outcomes, against enumeration and closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from dpaudit.accountants.pairs.finite_pair import (
    FinitePair,
    gaussian_steps_pair,
    geometric_pair,
    loss_pair,
    response_against_none,
    response_pair,
    together,
)
from dpaudit.claims import InvalidValue

HALF = Fraction(1, 2)


def _inside(ends: tuple[Fraction, Fraction], value: float, width: float = 1e-12) -> bool:
    return float(ends[0]) - width <= value <= float(ends[1]) + width and float(ends[1] - ends[0]) <= 1e-9


@pytest.mark.parametrize("epsilon", ["-1", "0", "0.3", "1.0986", "2"])
def test_delta_of_a_response_is_what_events_say(epsilon: str) -> None:
    first, second = (
        {0: Fraction(3, 4), 1: Fraction(1, 8), 2: Fraction(1, 8)},
        {0: Fraction(1, 8), 1: Fraction(3, 4), 2: Fraction(1, 8)},
    )
    grown = math.exp(float(epsilon))
    events = [event for size in range(4) for event in itertools.combinations(range(3), size)]
    best = max(float(sum(first[o] for o in event)) - grown * float(sum(second[o] for o in event)) for event in events)
    assert _inside(FinitePair.of_laws(first, second).delta(Fraction(epsilon)), best)


def test_a_negative_level_says_the_same_as_the_other_direction() -> None:
    pair = geometric_pair(HALF, 4).sampled(Fraction(1, 5))
    at = Fraction("0.3")
    below, other = pair.delta(-at), pair.swapped().delta(at)
    assert float(below[1]) == pytest.approx(1 - math.exp(-0.3) * (1 - float(other[1])), abs=1e-15)


def test_sampling_mixes_and_zero_out_is_against_the_uniform_law() -> None:
    assert float(response_pair(HALF, 2).sampled(HALF).delta(Fraction(0))[1]) == pytest.approx(0.25)
    assert float(response_against_none(HALF, 4).delta(Fraction(0))[1]) == pytest.approx(0.375)


def test_renyi_divergences_rise_to_the_largest_loss() -> None:
    pair = response_pair(HALF, 2)
    orders = [Fraction(1), Fraction(3, 2), Fraction(5), Fraction(100)]
    sizes = [float(pair.renyi(order)[1]) for order in orders]
    assert sizes == sorted(sizes)
    assert sizes[0] == pytest.approx(0.5 * math.log(3))
    assert float(pair.renyi(None)[1]) == pytest.approx(math.log(3))
    with pytest.raises(InvalidValue):
        gaussian_steps_pair(Fraction(1), 1, 2).renyi(Fraction(2))


def test_hit_rates_lie_on_the_best_tests_and_mu_touches_them() -> None:
    pair, normal = together([response_pair(HALF, 2), response_pair(Fraction(1, 3), 2)]), NormalDist()
    low, high = pair.gaussian_mu()
    assert high - low < Fraction(1, 10**9)
    gaps = []
    for k in range(1, 100):
        rate = pair.true_positive_rate(Fraction(k, 100))
        gaps.append(normal.inv_cdf(float(rate[1])) - normal.inv_cdf(k / 100))
    assert max(gaps) <= float(high) + 1e-9
    assert max(gaps) > 0.97 * float(low)  # a corner is near one of the hundredths


def test_mu_of_something_that_reveals_all_is_refused() -> None:
    with pytest.raises(InvalidValue, match="Gaussian-DP"):
        loss_pair({Fraction(1): Fraction(9, 10)}, Fraction(1, 10)).gaussian_mu()


def test_losses_give_back_their_curve() -> None:
    pair = loss_pair(
        {Fraction(2, 10): Fraction(4, 10), Fraction(0): Fraction(3, 10), Fraction(-1, 10): Fraction(2, 10)}, Fraction(1, 10)
    )
    assert _inside(pair.delta(Fraction(1, 10)), 0.1 + 0.4 * -math.expm1(-0.1))


def test_probabilities_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(InvalidValue):
        FinitePair.of_laws({0: HALF}, {0: Fraction(1)})
