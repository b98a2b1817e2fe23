"""Numerical composition against enumeration of small mechanisms, closed forms, and dp-accounting's PLD."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import dpaudit as dp
from dpaudit.accountants import Known, Part, compose, composed_delta
from dpaudit.claims import InvalidValue

STEP = 2**20  # sensitivity 1 on the default grid
MILLIONTH = Fraction(1, 10**6)
Law = dict[Fraction, Any]


DIGITS = 40


@lru_cache(maxsize=100)
def law(noise: Any, steps: int) -> Law:
    """The loss of one release, from the probabilities of its outputs: an independent route."""
    outputs = range(2) if noise.name == "randomized-response" else range(-450, 451)
    found: Law = {}
    with mpmath.workdps(DIGITS):
        for output in outputs:
            loss = noise.exact_log_ratio(output, 0, steps)
            found[loss] = found.get(loss, mpmath.mpf(0)) + mpmath.exp(noise.log_prob(output, DIGITS))
    return {loss: chance for loss, chance in found.items() if chance > 1e-24}


def both(a: Law, b: Law) -> Law:
    found: Law = {}
    with mpmath.workdps(DIGITS):
        for x, p in a.items():
            for y, q in b.items():
                found[x + y] = found.get(x + y, mpmath.mpf(0)) + p * q
    return found


def true_delta(total: Law, epsilon: Fraction) -> Any:
    with mpmath.workdps(DIGITS):
        e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        above = [(mpmath.mpf(x.numerator) / x.denominator, p) for x, p in total.items() if x > epsilon]
        return mpmath.fsum(p * -mpmath.expm1(e - x) for x, p in above)


def enumerated(parts: list[Part]) -> Law:
    return reduce(both, [law(part.noise, part.steps) for part in parts for _ in range(part.count)])


@st.composite
def small_parts(draw: Any) -> list[Part]:
    """Up to four releases by mechanisms with few values."""
    mechanisms = st.one_of(
        st.builds(lambda s, m: Part(dp.Laplace(s, grid=1), m), st.sampled_from(["1/2", "2", "5"]), st.integers(1, 4)),
        st.builds(lambda e: Part(dp.RandomizedResponse(e), 1), st.sampled_from(["0.1", "1", "7/3", "0.30103"])),
        st.builds(lambda s: Part(dp.Gaussian(s, grid=1), 1), st.just("3")),
    )
    return draw(st.lists(mechanisms, min_size=1, max_size=2)) + draw(st.lists(mechanisms, max_size=1)) * draw(st.integers(1, 2))


@given(small_parts(), st.integers(0, 40))
@settings(deadline=None, max_examples=30)
def test_delta_encloses_what_enumeration_gives(parts: list[Part], percent: int) -> None:
    total = enumerated(parts)
    largest = min(max(total), Fraction(12))
    epsilon = largest * percent / 41
    low, high = composed_delta(parts, epsilon)
    truth = Fraction(mpmath.nstr(true_delta(total, epsilon), 25))
    assert low <= truth * (1 + Fraction(1, 10**15)) + Fraction(1, 10**20)
    assert truth * (1 - Fraction(1, 10**15)) - Fraction(1, 10**20) <= high
    assert high - low <= truth / 100 + Fraction(1, 10**12)


@given(small_parts(), st.sampled_from(["1e-9", "1e-4", "0.05"]))
@settings(deadline=None, max_examples=30)
def test_epsilon_meets_delta_at_its_upper_end_and_not_below_its_lower_end(parts: list[Part], delta: str) -> None:
    total, failure = enumerated(parts), Fraction(delta)
    found = compose(parts, delta)
    assert float(true_delta(total, found.upper)) <= float(failure) * (1 + 1e-12)
    if found.lower > 0:
        assert float(true_delta(total, found.lower)) >= float(failure) * (1 - 1e-12)
    assert found.upper - found.lower <= max(found.upper, Fraction(1)) / 200


def test_the_comparison_with_enumeration_notices_one_percent_of_noise() -> None:
    """The twin: the enclosure of a slightly different mechanism does not hold the truth."""
    truth = true_delta(enumerated([Part(dp.Laplace(2, grid=1), 2, 3)]), Fraction(1))
    for scale in ("1.98", "2.02"):
        low, high = composed_delta([Part(dp.Laplace(scale, grid=1), 2, 3)], 1)
        assert not float(low) <= float(truth) <= float(high)


# Computed by dp-accounting 0.6 (pessimistic, interval 1e-5 or finer), for offline use. Entries: parts, δ, ε, tolerance.
TABLE = [
    ([Part(dp.Laplace(10), STEP, 10_000)], "1e-6", 94.235865, 1e-4),
    ([Part(dp.Laplace(10), STEP, 100)], "1e-6", 4.692667, 2e-5),
    ([Part(dp.Laplace(10), STEP, 10)], "1e-6", 0.998978, 1e-6),
    ([Part(dp.Gaussian(10), STEP, 10_000)], "1e-6", 96.717272, 1e-5),
    ([Part(dp.RandomizedResponse("0.1"), 1, 100)], "1e-6", 4.774568, 1e-5),
]


@pytest.mark.parametrize(("parts", "delta", "epsilon", "tolerance"), TABLE)
def test_known_figures_are_reached(parts: list[Part], delta: str, epsilon: float, tolerance: float) -> None:
    found = compose(parts, delta)
    assert float(found.lower) - tolerance <= epsilon <= float(found.upper) + tolerance
    assert found.upper - found.lower <= tolerance


@pytest.mark.parametrize(("scale", "count"), [(10.0, 50), (1.0, 5), (100.0, 300)])
def test_laplace_lies_between_the_peers_optimistic_and_pessimistic_figures(scale: float, count: int) -> None:
    found = compose([Part(dp.Laplace(scale), STEP, count)], MILLIONTH)
    low, high = (
        pld.from_laplace_mechanism(scale, value_discretization_interval=1e-4, pessimistic_estimate=p, use_connect_dots=p)
        .self_compose(count)
        .get_epsilon_for_delta(1e-6)
        for p in (False, True)
    )
    assert low - 1e-9 <= found.upper
    assert found.lower <= high + 1e-9
    assert found.upper <= high * (1 + 1e-4)


def test_mixed_mechanisms_agree_with_the_peers_composition() -> None:
    parts = [Part(dp.Laplace(5), STEP, 7), Part(dp.Gaussian(8), STEP, 4), Part(dp.Laplace(3), STEP, 2)]
    peer = pld.from_laplace_mechanism(5.0, value_discretization_interval=1e-4).self_compose(7)
    peer = peer.compose(pld.from_gaussian_mechanism(8.0, value_discretization_interval=1e-4).self_compose(4))
    peer = peer.compose(pld.from_laplace_mechanism(3.0, value_discretization_interval=1e-4).self_compose(2))
    found = compose(parts, MILLIONTH)
    assert float(found.upper) == pytest.approx(peer.get_epsilon_for_delta(1e-6), rel=1e-4)


@pytest.mark.parametrize(("sigma", "count", "delta"), [(10, 10_000, 1e-6), (3, 7, 1e-9), (50, 20, 1e-3)])
def test_gaussian_noise_has_its_closed_form(sigma: int, count: int, delta: float) -> None:
    """Balle and Wang 2018, Theorem 8, with μ = √count/σ."""
    mu = math.sqrt(count) / sigma

    def excess(epsilon: float) -> float:
        return float(stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)) - delta

    truth = optimize.brentq(excess, 0, 200, xtol=1e-12)
    found = compose([Part(dp.Gaussian(sigma), STEP, count)], Fraction(str(delta)))
    assert float(found.lower) - 1e-7 <= truth <= float(found.upper) + 1e-7
    assert found.upper - found.lower < Fraction(1, 10**6)


@given(
    st.lists(st.tuples(st.sampled_from(["1", "7", "10", "33.3"]), st.integers(1, 400)), min_size=1, max_size=3),
    st.integers(1, 40),
    st.sampled_from(["0", "1e-300", "1e-12", "1e-6", "0.1", "0.9"]),
)
@settings(deadline=None, max_examples=40)
def test_never_above_the_pure_sum_and_never_negative(mix: Any, bits: int, delta: str) -> None:
    parts = [*(Part(dp.Laplace(scale), STEP, count) for scale, count in mix), Part(dp.RandomizedResponse("0.3"), 1, bits)]
    pure = sum((part.pure() or 0 for part in parts), Fraction(0))
    found = compose(parts, delta)
    assert 0 <= found.lower <= found.upper <= pure
    if delta == "0":
        assert found.lower == found.upper == pure


def test_ten_releases_of_a_tenth_cost_at_most_one() -> None:
    parts = [Part(dp.Laplace(10), STEP, 10)]
    assert compose(parts, 0).upper == 1
    assert compose(parts, "1e-300").upper <= 1
    assert compose(parts, "1e-2").upper < 1


def test_more_releases_and_less_delta_cost_more() -> None:
    uppers = [compose([Part(dp.Laplace(10), STEP, k)], MILLIONTH).upper for k in (1, 3, 30, 300, 3000)]
    assert uppers == sorted(uppers)
    uppers = [compose([Part(dp.Laplace(10), STEP, 300)], delta).upper for delta in ("0.5", "1e-2", "1e-6", "1e-60", "1e-280")]
    assert uppers == sorted(uppers)


def test_a_fine_grid_tends_to_continuous_noise_from_above() -> None:
    """One Laplace release: δ(ε) = 1 − e^{(ε−ε0)/2} in the limit (Dwork et al. 2006)."""
    limit = 1 - math.exp(-0.25)
    found = [composed_delta([Part(dp.Laplace(1, grid=Fraction(1, m)), m, 1)], "1/2")[1] for m in (3, 30, 3000, 10**6)]
    assert [float(delta) for delta in found] == sorted((float(delta) for delta in found), reverse=True)
    assert all(float(delta) >= limit - 1e-12 for delta in found)
    assert float(found[-1]) == pytest.approx(limit, rel=1e-5)


def test_pure_noise_on_many_coordinates_is_taken_as_randomised_response() -> None:
    """The worst mechanism of its ε (Kairouz, Oh, Viswanath 2015)."""
    many = compose([Part(dp.Laplace(10), STEP, 50, coordinates=8)], MILLIONTH)
    bits = compose([Part(dp.RandomizedResponse("0.1"), 1, 50)], MILLIONTH)
    one = compose([Part(dp.Laplace(10), STEP, 50)], MILLIONTH)
    assert many.upper == bits.upper
    assert many.lower <= one.upper < many.upper  # from below: the whole move in one coordinate


def test_gaussian_noise_on_many_coordinates_costs_what_one_coordinate_does() -> None:
    one, many = (compose([Part(dp.Gaussian(10), STEP, 50, coordinates=d)], MILLIONTH) for d in (1, 1000))
    assert float(many.upper) == pytest.approx(float(one.upper), rel=1e-9)


def test_gaussian_noise_without_delta_or_too_narrow_for_its_grid_is_refused() -> None:
    with pytest.raises(InvalidValue, match="delta"):
        compose([Part(dp.Gaussian(10), STEP)], 0)
    with pytest.raises(InvalidValue, match="sigma"):
        compose([Part(dp.Gaussian(1, grid=1), 1, coordinates=2)], MILLIONTH)


def test_releases_that_fail_with_delta_need_more_than_their_deltas() -> None:
    with pytest.raises(InvalidValue, match="delta"):
        compose([Known(Fraction(1), MILLIONTH, 2)], MILLIONTH)
    assert compose([Known(Fraction(1), MILLIONTH / 4, 2)], MILLIONTH).upper <= 2


def test_nothing_released_costs_nothing() -> None:
    assert compose([], MILLIONTH).upper == 0
    assert compose([Part(dp.Laplace(1), 0, 5)], MILLIONTH).upper == 0
    assert composed_delta([], 0) == (0, 0)


def test_delta_of_coarse_noise_with_many_values_is_known_to_ten_digits() -> None:
    """Ten releases of σ = 30 steps: the law of one loss has 600 values. Against the transform of the outputs' own law."""
    parts = [Part(dp.Gaussian("60", grid=2), 2, 10)]
    low, high = composed_delta(parts, "0.575")
    outputs = np.arange(-400, 401)
    chances = np.exp(-(outputs**2) / (2 * 30.0**2))
    law = np.convolve(chances / chances.sum(), [1.0])
    total = law
    for _ in range(9):
        total = np.convolve(total, law)
    losses = (10 * 4 - 2 * 2 * np.arange(-4000, 4001)) / (2 * 30.0**2)
    truth = float((total * -np.expm1(np.minimum(0.575 - losses, 0.0))).sum())
    assert float(low) == pytest.approx(truth, rel=1e-9)
    assert high - low <= high / 10**10
