"""Discrete Gaussian: samplers against the exact law, exact ratios, certified curve and tails."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID, Gaussian, ReplaySource, SecureSource
from dpaudit.noise.gaussian_tail import summed_tail
from dpaudit.noise.sampling import discrete_gaussian as gaussian_sampler

ZEROS = np.zeros(200_000, dtype=np.int64)
# Accepted at p > 10^-3 (one seed in 1,000); 5 % off sigma puts the statistic some 1,000 above its mean.
TWINS = (Fraction(95, 100), Fraction(105, 100))
LAWS = [
    (Fraction(2), GRID, [k * 2**18 for k in range(-24, 25)]),
    (Fraction(3), Fraction(1), range(-9, 10)),
    (Fraction(1, 2), Fraction(1), range(-1, 3)),
    (Fraction(10) ** 12, Fraction(1), [k * 10**11 for k in range(-30, 31)]),
]


def draws_of(kind: str, noise: Gaussian, seed: int) -> np.ndarray:
    if kind == "live":
        return noise.draw(ZEROS, ReplaySource(seed))
    return noise.simulate(ZEROS, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", ["live", "simulated"])
@pytest.mark.parametrize(("sigma", "grid", "edges"), LAWS)
def test_draws_follow_the_law_and_no_other(fit, kind: str, sigma: Fraction, grid: Fraction, edges) -> None:
    draws = draws_of(kind, Gaussian(sigma, grid), seed=51)
    assert fit(draws, Gaussian(sigma, grid), edges) > 1e-3
    for twin in TWINS:
        assert fit(draws, Gaussian(sigma * twin, grid), edges) < 1e-9


def test_live_and_simulated_draws_follow_one_law(two_sample) -> None:
    noise, edges = Gaussian(2), LAWS[0][2]
    live = noise.draw(ZEROS, ReplaySource(52))
    assert two_sample(live, noise.simulate(ZEROS, np.random.default_rng(52)), edges) > 1e-3
    for twin in TWINS:
        assert two_sample(live, Gaussian(2 * twin).simulate(ZEROS, np.random.default_rng(52)), edges) < 1e-9


def test_deciding_every_acceptance_exactly_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    # the float64 shortcut must agree with exact arithmetic wherever it decides
    quick = Gaussian("2.7", grid=1).draw(ZEROS[:2000], ReplaySource(53))
    monkeypatch.setattr(gaussian_sampler, "_MARGIN", 2.0)
    assert (Gaussian("2.7", grid=1).draw(ZEROS[:2000], ReplaySource(53)) == quick).all()


def test_low_digits_are_all_reached_evenly() -> None:
    draws = Gaussian(2).draw(ZEROS, ReplaySource(54)) % 256
    assert stats.chisquare(np.bincount(draws, minlength=256)).pvalue > 1e-3  # one seed in 1,000
    assert stats.chisquare(np.bincount(draws // 4 * 4, minlength=256)).pvalue < 1e-9


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5)])
def test_draws_have_the_shape_of_the_query(shape: tuple[int, ...]) -> None:
    queries = np.full(shape, 10, dtype=np.int64)
    assert Gaussian(1).draw(queries, SecureSource()).shape == shape
    assert Gaussian(1).simulate(queries, np.random.default_rng(1)).shape == shape


def test_one_sigma_per_trial_broadcasts_over_the_other_axes(fit) -> None:
    noise = Gaussian(np.array([1.0, 4.0]), grid=1)
    drawn = noise.simulate(np.zeros((2, 100_000), dtype=np.int64), np.random.default_rng(55))
    for trial, sigma in enumerate([1, 4]):
        assert fit(drawn[trial], Gaussian(sigma, grid=1), range(-3, 4)) > 1e-3
        assert fit(drawn[trial], Gaussian(sigma * TWINS[1], grid=1), range(-3, 4)) < 1e-9
    assert noise.at(1) == Gaussian(4, grid=1)
    with pytest.raises(InvalidValue, match=r"\.at\(index\)"):
        noise.draw([0, 0], SecureSource())


@given(
    o=st.integers(-(2**41), 2**41),
    q=st.integers(-(2**41), 2**41),
    p=st.integers(-(2**41), 2**41),
    sigma=st.fractions(min_value=1, max_value=1000, max_denominator=1000),
)
def test_exact_ratio_is_the_difference_of_log_probabilities(o: int, q: int, p: int, sigma: Fraction) -> None:
    noise = Gaussian(sigma)
    exact = noise.exact_log_ratio(o, q, p)
    assert exact is not None
    with mpmath.workdps(60):
        difference = noise.log_prob(o - q, 60) - noise.log_prob(o - p, 60)
        assert abs(mpmath.mpf(exact.numerator) / exact.denominator - difference) < mpmath.mpf(10) ** -30
    assert float(noise.log_ratio(o, q, p)) == pytest.approx(float(exact), rel=1e-14)


@lru_cache
def probabilities(s: Fraction, reach: int) -> dict[int, mpmath.mpf]:
    """The law by its definition, summed term by term, in 120 digits."""
    s2 = mpmath.mpf(s.numerator) ** 2 / s.denominator**2
    weights = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * s2)) for k in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


@pytest.mark.parametrize("s", ["0.2", "0.41", "0.7", "3", "40"])
def test_log_probabilities_agree_with_the_definition(s: str) -> None:
    with mpmath.workdps(120):
        law = probabilities(Fraction(s), int(30 * float(s)) + 10)
        for k in (0, 1, -2, 5):
            assert abs(Gaussian(s, grid=1).log_prob(k) - mpmath.log(law[k])) < mpmath.mpf(10) ** -28


@pytest.mark.parametrize("s", ["0.3", "2.5", "60", "300", "1000"])
def test_tails_enclose_the_sums(s: str) -> None:
    # below s = 256 the tails are summed, above integrated with a remainder
    with mpmath.workdps(120):
        reach = int(24 * float(s)) + 10
        law = probabilities(Fraction(s), reach)
        for share in (-2, -1, 0, 0.5, 1, 2.3, 2.5, 4, 8):
            k = int(share * float(s)) + (share > 0)
            lower, upper = (mpmath.mpf(e.numerator) / e.denominator for e in Gaussian(s, grid=1).tail(k))
            summed = mpmath.fsum(law[j] for j in range(k, reach + 1))
            assert lower <= summed <= upper
            assert upper - lower <= upper * mpmath.mpf(10) ** -5


@pytest.mark.parametrize(("s", "k"), [("0.3", 1), ("1", 1), ("2.5", 2), ("2.5", 5), ("300", 50), ("300", 301)])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "3"])
def test_delta_is_the_hockey_stick_rounded_up(s: str, k: int, epsilon: str) -> None:
    noise = Gaussian(s, grid=1)
    with mpmath.workdps(120):
        reach = int(24 * float(s)) + 400
        law = probabilities(Fraction(s), reach)
        factor = mpmath.exp(mpmath.mpf(epsilon))
        terms = (law[o] - factor * law.get(o - k, 0) for o in range(k - reach, reach + 1))
        brute = mpmath.fsum(term for term in terms if term > 0)
        delta = noise.delta(Fraction(epsilon), k)
        bound = mpmath.mpf(delta.numerator) / delta.denominator
        assert brute <= bound <= brute * (1 + mpmath.mpf(10) ** -5)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 8.0])
def test_delta_on_a_fine_grid_is_that_of_continuous_noise(epsilon: float) -> None:
    # Balle and Wang 2018, Theorem 8, with Δ/σ = 1/2
    continuous = stats.norm.cdf(0.25 - 2 * epsilon) - np.exp(epsilon) * stats.norm.cdf(-0.25 - 2 * epsilon)
    assert float(Gaussian(2).delta(epsilon, 2**20)) == pytest.approx(continuous, rel=1e-5)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "2"])
def test_delta_grows_with_the_sensitivity(epsilon: str) -> None:
    curve = [Gaussian(3, grid=1).delta(Fraction(epsilon), k) for k in range(12)]
    assert all(one < other for one, other in pairwise(curve))


def test_no_pure_cost_but_for_a_query_that_cannot_move() -> None:
    assert Gaussian(2).epsilon(1) is None
    assert Gaussian(2).epsilon(0) == 0
    assert Gaussian(2).delta(0, 0) == 0


@pytest.mark.parametrize("bad", [0, -1, float("nan"), "two", True, 2**31])
def test_meaningless_sigmas_are_refused(bad) -> None:
    with pytest.raises(InvalidValue, match="sigma"):
        Gaussian(bad)


@pytest.mark.parametrize(("s", "count"), [(10, 2), (11, 3), (12, 4)])
def test_a_sum_of_discrete_gaussians_has_the_tails_that_convolution_gives(s: int, count: int) -> None:
    """Convolved in floats, term by term; a tail that is off by 10^-10 relative would show."""
    reach = 40 * s
    single = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * s * s))
    single /= single.sum()
    law = single
    for _ in range(count - 1):
        law = np.convolve(law, single)
    for k in (-30, -1, 0, 1, 25, 60):
        lower, upper = summed_tail(Fraction(s), count, k)
        exact = law[count * reach + k :].sum()
        assert lower <= upper
        assert float(lower) == pytest.approx(exact, rel=1e-10)
        assert float(upper) == pytest.approx(exact, rel=1e-10)


def test_sums_of_narrow_discrete_gaussians_are_refused() -> None:
    with pytest.raises(InvalidValue, match="at least 10"):
        summed_tail(Fraction(9), 2, 1)
