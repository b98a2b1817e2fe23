"""Events of the joint view: their probabilities are those of the mechanism, and they never beat what is proven."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import dpaudit as dp
from dpaudit.auditors.events.independent_releases import independent_coordinates
from dpaudit.auditors.events.server_events import measure, server_event

BIT = dp.replace_one(n=1, low=0, high=1)
ZERO, ONE = np.zeros(1), np.ones(1)
CLAIM = dp.Claim("1/10", "1e-6")


def declare(function: Any) -> Any:
    return dp.subject(claim=CLAIM, neighbours=BIT)(function)


def released(noise: Any, times: int = 1) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        return [channel.release(f"release {k}", data.sum(), noise, sensitivity=1) for k in range(times)]

    return declare(mechanism)


@pytest.mark.parametrize("noise", [dp.Laplace(1), dp.Gaussian(2), dp.RandomizedResponse(1)])
@pytest.mark.parametrize("pair", [(ZERO, ONE), (ONE, ZERO)])
def test_one_number_shows_what_its_mechanism_has_and_no_more(noise: Any, pair: Any) -> None:
    witness = server_event(released(noise), CLAIM, *pair, 1)
    assert witness is not None
    steps = 2**20 if noise.grid != 1 else 1
    assert noise.delta(witness.epsilon, steps) >= CLAIM.delta  # the mechanism has this ε at least
    assert noise.delta(witness.epsilon + Fraction(1, 1000), steps) < CLAIM.delta  # and not much more


@pytest.mark.parametrize("noise", [dp.Laplace(2, grid=1), dp.Gaussian(2, grid=1), dp.RandomizedResponse(1)])
def test_several_numbers_have_the_probability_that_enumeration_gives(noise: Any) -> None:
    numbers = independent_coordinates(released(noise, 2), ONE, ZERO, 1)
    assert [(one.position, one.query, one.other) for one in numbers] == [(0, 1, 0), (1, 1, 0)]
    bits = noise.name == "randomized-response"

    def chance(output: int, query: int) -> float:
        return math.exp(float(noise.log_prob((output != query) if bits else output - query, 30)))

    for thresholds in product((0, 1, 2), repeat=2):
        found = measure(numbers, thresholds, "each", dp.Claim("0", "1e-9"))
        outputs = range(2) if bits else range(-60, 61)
        expected = [
            math.prod(sum(chance(o, query) for o in outputs if o >= threshold) for threshold in thresholds) for query in (1, 0)
        ]
        if found is None:  # shows nothing
            assert expected[0] <= expected[1] + 2e-9
            continue
        assert [float(found.p), float(found.p_other)] == pytest.approx(expected, rel=1e-9)
        assert float(found.epsilon) == pytest.approx(math.log((expected[0] - 1e-9) / expected[1]), abs=1e-8)


@pytest.mark.parametrize("times", [2, 5, 9])
def test_laplace_numbers_together_show_nearly_the_sum_of_their_epsilons_and_never_more(times: int) -> None:
    witness = server_event(released(dp.Laplace(2), times), CLAIM, ZERO, ONE, 1)
    assert witness is not None
    assert Fraction(times, 2) * Fraction(99, 100) < witness.epsilon < Fraction(times, 2)


@pytest.mark.parametrize("times", [2, 7, 16])
def test_gaussian_numbers_together_show_what_the_analytic_gaussian_mechanism_has(times: int) -> None:
    """Balle, Wang 2018, Theorem 8, for sensitivity √k/σ: an independent route, to 10^-5, and never above it."""
    shift = math.sqrt(times) / 4

    def excess(epsilon: float) -> float:
        below, above = norm.cdf(shift / 2 - epsilon / shift), norm.cdf(-shift / 2 - epsilon / shift)
        return float(below - math.exp(epsilon) * above - 1e-6)

    true = float(brentq(excess, 0, 50, xtol=1e-12))
    witness = server_event(released(dp.Gaussian(4), times), CLAIM, ZERO, ONE, 1)
    assert witness is not None
    assert true - 1e-5 < float(witness.epsilon) < true + 1e-7
    assert witness.facts["beyond"] == "sum"


def test_a_query_that_depends_on_an_earlier_output_takes_no_part() -> None:
    def adaptive(data: Any, channel: Any) -> Any:
        first = channel.release("first", data.sum(), dp.Laplace(1), sensitivity=1)
        second = channel.release("second", data.sum() + (first > 3), dp.Laplace(1), sensitivity=1)
        return channel.release("third", data.sum(), dp.Laplace(1), sensitivity=1), second

    assert [one.name for one in independent_coordinates(declare(adaptive), ZERO, ONE, 1)] == ["first"]


@pytest.mark.parametrize("use", ["scale", "query"])
def test_public_randomness_makes_a_mixture_and_gives_no_event(use: str) -> None:
    """Little noise once in a hundred runs: the event of such a run alone would claim far too much at δ = 0.05."""

    def mixture(data: Any, channel: Any) -> Any:
        rare = channel.rng.random() < 0.01
        noise, value = (dp.Laplace("1/10" if rare else 10), data.sum()) if use == "scale" else (dp.Laplace(10), data.sum() * rare)
        return channel.release("v", value, noise, sensitivity=1)

    for seed in range(300):
        assert server_event(declare(mixture), dp.Claim("1", "0.05"), ZERO, ONE, seed) is None


def test_nothing_released_or_nothing_differing_gives_no_event() -> None:
    assert server_event(declare(lambda data, channel: 0), CLAIM, ZERO, ONE, 1) is None
    assert server_event(released(dp.Laplace(1)), CLAIM, ONE, ONE, 1) is None


def test_a_subject_that_fails_on_wild_outputs_keeps_what_it_released_before() -> None:
    def fragile(data: Any, channel: Any) -> Any:
        first = channel.release("first", data.sum(), dp.Laplace(1), sensitivity=1)
        return [0, 1, 2][min(int(abs(first)), 3)] if abs(first) < 2**20 else {}["far"]

    assert [one.name for one in independent_coordinates(declare(fragile), ZERO, ONE, 1)] == ["first"]
