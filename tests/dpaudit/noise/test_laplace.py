"""Discrete Laplace: samplers against the exact law, exact ratios, certified curve and tails."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID, Laplace, ReplaySource, SecureSource, from_units

ZEROS = np.zeros(200_000, dtype=np.int64)
FINE = Laplace(2)
FINE_EDGES = [k * 2**18 for k in range(-20, 21)]
# A fit is accepted at p > 10^-3: a true law is refused for one seed in 1,000. 5 % off the scale puts the
# statistic some 500 above its mean, so that a twin's p-value is far below 10^-9.
TWINS = (Fraction(95, 100), Fraction(105, 100))


def draws_of(kind: str, noise: Laplace, seed: int) -> np.ndarray:
    if kind == "live":
        return noise.draw(ZEROS, ReplaySource(seed))
    return noise.simulate(ZEROS, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", ["live", "simulated"])
@pytest.mark.parametrize(
    ("scale", "grid", "edges"),
    [
        (Fraction(2), GRID, FINE_EDGES),
        (Fraction(2), Fraction(1), range(-12, 13)),
        (Fraction(1, 2), Fraction(1), range(-2, 4)),
        (Fraction(10) ** 12, Fraction(1), [k * 10**11 for k in range(-40, 41)]),
    ],
)
def test_draws_follow_the_law_and_no_other(fit, kind: str, scale: Fraction, grid: Fraction, edges) -> None:
    draws = draws_of(kind, Laplace(scale, grid), seed=31)
    assert fit(draws, Laplace(scale, grid), edges) > 1e-3
    for twin in TWINS:
        assert fit(draws, Laplace(scale * twin, grid), edges) < 1e-9


def test_live_and_simulated_draws_follow_one_law(two_sample) -> None:
    live = FINE.draw(ZEROS, ReplaySource(32))
    assert two_sample(live, FINE.simulate(ZEROS, np.random.default_rng(32)), FINE_EDGES) > 1e-3
    for twin in TWINS:
        other = Laplace(2 * twin).simulate(ZEROS, np.random.default_rng(32))
        assert two_sample(live, other, FINE_EDGES) < 1e-9


@pytest.mark.parametrize("kind", ["live", "simulated"])
def test_noise_thirty_times_narrower_than_the_grid_is_zero(kind: str) -> None:
    # P(K ≠ 0) = 2e^-30/(1 + e^-30) < 2·10^-13 per draw: wrong for one seed in 2·10^7
    assert not draws_of(kind, Laplace(Fraction(1, 30), grid=1), seed=33).any()
    assert draws_of(kind, Laplace(Fraction(1, 10), grid=1), seed=33).any()


@pytest.mark.parametrize("scale", [Fraction(1, 2**50), Fraction(2**50)])
def test_the_most_extreme_scales_can_be_drawn(scale: Fraction) -> None:
    drawn = Laplace(scale, grid=1).draw(ZEROS[:1000], SecureSource())
    assert (drawn == 0).all() if scale < 1 else np.abs(drawn).max() > 2**48


def test_everything_released_is_on_the_grid() -> None:
    noisy = FINE.draw(np.full((100, 10), 3 * 2**20), SecureSource())
    assert noisy.dtype == np.int64
    assert noisy.shape == (100, 10)
    on_grid = from_units(noisy, GRID) * 2**20
    assert (on_grid == np.round(on_grid)).all()


def test_scalar_queries_are_served() -> None:
    assert FINE.draw(5, SecureSource()).shape == ()
    assert FINE.simulate(5, np.random.default_rng(1)).shape == ()
    assert FINE.simulate_sums(5, 10**9, np.random.default_rng(1)).shape == ()


def test_one_scale_per_trial_broadcasts_over_the_other_axes(fit) -> None:
    noise = Laplace(np.array([1.0, 4.0]), grid=1)
    drawn = noise.simulate(np.zeros((2, 50_000, 2), dtype=np.int64), np.random.default_rng(34))
    for trial, scale in enumerate([1, 4]):
        assert fit(drawn[trial], Laplace(scale, grid=1), range(-5, 6)) > 1e-3
        assert fit(drawn[trial], Laplace(scale * TWINS[1], grid=1), range(-5, 6)) < 1e-9


def test_a_subset_of_trials_keeps_its_scales() -> None:
    noise = Laplace(np.array([1.0, 0.1, 4.0]))
    assert noise.at([0, 2]) == Laplace(np.array([1.0, 4.0]))
    assert noise.at(np.array([False, True, False])) == Laplace(np.array([0.1]))
    assert noise.at(1) == Laplace("0.1")
    assert FINE.at([0, 1]) == FINE
    assert noise.at([0]) != noise.at([1])


def test_scales_per_trial_are_for_simulation_only() -> None:
    noise = Laplace(np.array([1.0, 2.0]))
    for refused in (
        lambda: noise.draw([0, 0], SecureSource()),
        lambda: noise.epsilon(1),
        lambda: noise.delta(0, 1),
        lambda: noise.parameters(),
        lambda: noise.tail(1),
        lambda: noise.log_prob(1),
        lambda: noise.exact_log_ratio(0, 0, 1),
    ):
        with pytest.raises(InvalidValue, match=r"\.at\(index\)"):
            refused()
    with pytest.raises(InvalidValue, match="2 trials"):
        noise.simulate(np.zeros(3, dtype=np.int64), np.random.default_rng(1))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "two", True, 2**31, "1e-30"])
def test_meaningless_scales_are_refused(bad) -> None:
    with pytest.raises(InvalidValue, match="scale"):
        Laplace(bad)
    if isinstance(bad, int | float) and not isinstance(bad, bool):
        with pytest.raises(InvalidValue, match="scale"):
            Laplace(np.array([1.0, bad]))


def test_sensitivity_two_at_scale_two_costs_exactly_one() -> None:
    assert FINE.epsilon(2 * 2**20) == 1
    assert Laplace("0.3", grid="0.1").epsilon(7) == Fraction(7, 3)


def test_parameters_are_exact_texts() -> None:
    assert Laplace("0.1").parameters() == {"scale": "0.1", "grid": "9.5367431640625e-7"}


@given(
    o=st.integers(-(2**41), 2**41),
    q=st.integers(-(2**41), 2**41),
    p=st.integers(-(2**41), 2**41),
    scale=st.fractions(min_value=Fraction(1, 100), max_value=1000, max_denominator=1000),
)
def test_exact_ratio_is_the_difference_of_log_probabilities(o: int, q: int, p: int, scale: Fraction) -> None:
    noise = Laplace(scale)
    exact = noise.exact_log_ratio(o, q, p)
    assert exact is not None
    with mpmath.workdps(50):
        difference = noise.log_prob(o - q, 45) - noise.log_prob(o - p, 45)
        assert abs(mpmath.mpf(exact.numerator) / exact.denominator - difference) < mpmath.mpf(10) ** -30
    assert float(noise.log_ratio(o, q, p)) == pytest.approx(float(exact), rel=1e-14)
    assert abs(exact) <= noise.epsilon(abs(q - p))


def test_ratios_use_the_scale_of_their_trial() -> None:
    noise = Laplace(np.array([1.0, 2.0]), grid=1)
    assert noise.log_ratio(np.zeros((2, 1)).astype(int), 0, [[4], [4]]).tolist() == [[4.0], [2.0]]


def test_probabilities_sum_to_one_and_tails_are_their_sums() -> None:
    noise = Laplace(Fraction(3, 2), grid=1)
    with mpmath.workdps(40):
        p = {k: mpmath.exp(noise.log_prob(k)) for k in range(-200, 201)}
        assert abs(sum(p.values()) - 1) < mpmath.mpf(10) ** -29
        for k in (-5, -1, 0, 1, 2, 30):
            lower, upper = (mpmath.mpf(e.numerator) / e.denominator for e in noise.tail(k))
            summed = sum(p[j] for j in range(k, 201))
            assert lower * (1 - mpmath.mpf(10) ** -27) <= summed <= upper * (1 + mpmath.mpf(10) ** -27)
            assert upper - lower <= upper * mpmath.mpf(10) ** -29


def hockey_stick(noise: Laplace, epsilon: Fraction, k: int) -> mpmath.mpf:
    """Σ_o (P(o) − e^ε P(o − k))_+ term by term, from below to 10^-100."""
    a = mpmath.mpf(noise.rate.numerator) / noise.rate.denominator
    reach = int(250 / a) + k
    law = [mpmath.tanh(a / 2) * mpmath.exp(-a * j) for j in range(reach + k + 1)]
    factor = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    terms = (law[abs(o)] - factor * law[abs(o - k)] for o in range(-reach, reach + 1))
    return mpmath.fsum(term for term in terms if term > 0)


@pytest.mark.parametrize("scale", ["0.4", "1", "2.5"])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("share", ["0", "1/3", "1/2", "0.999"])
def test_delta_is_the_hockey_stick_rounded_up(scale: str, k: int, share: str) -> None:
    noise = Laplace(scale, grid=1)
    epsilon = Fraction(share) * noise.epsilon(k)
    with mpmath.workdps(110):
        brute = hockey_stick(noise, epsilon, k)
        delta = noise.delta(epsilon, k)
        bound = mpmath.mpf(delta.numerator) / delta.denominator
        assert brute <= bound <= brute * (1 + mpmath.mpf(10) ** -15)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "2"])
def test_delta_never_falls_as_the_sensitivity_grows(epsilon: str) -> None:
    curve = [Laplace(3, grid=1).delta(Fraction(epsilon), k) for k in range(12)]
    assert curve == sorted(curve)
    assert curve[0] < curve[11]


def test_delta_vanishes_exactly_at_the_pure_cost() -> None:
    assert FINE.delta(1, 2**21) == 0
    assert 0 < FINE.delta("0.999999999", 2**21) < Fraction(1, 10**9)
    assert FINE.delta(0, 0) == 0


def test_delta_on_a_fine_grid_is_that_of_continuous_noise() -> None:
    # continuous Laplace: δ(ε) = 1 − e^((ε − Δ/b)/2); the lattice differs by less than a unit
    assert float(FINE.delta("0.5", 2**21)) == pytest.approx(1 - np.exp(-0.25), abs=1e-6)


def test_numbers_too_small_to_write_down_are_bounded_not_expanded() -> None:
    lower, upper = Laplace(1, grid=30).tail(2**41)
    assert lower == 0
    assert 0 < upper <= Fraction(1, 2**4096)
