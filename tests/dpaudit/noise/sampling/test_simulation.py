"""Sums of many noises in one draw, against convolution and against exact moments."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpaudit.claims import InvalidValue
from dpaudit.noise import Gaussian, Laplace, Noise
from dpaudit.noise.sampling import simulation

ZEROS = np.zeros(200_000, dtype=np.int64)


def convolution_fit(sums: np.ndarray, noise: Noise, count: int, reach: int) -> float:
    """The p-value of "these are sums of ``count`` noises", against the pmf convolved with itself."""
    one = np.array([float(mpmath.exp(noise.log_prob(k))) for k in range(-150, 151)])
    law = np.array([1.0])
    for _ in range(count):
        law = np.convolve(law, one)
    middle = len(law) // 2
    inside = law[middle - reach : middle + reach + 1]
    expected = np.append(inside, 1 - inside.sum()) * sums.size
    near = sums[np.abs(sums) <= reach] + reach
    observed = np.append(np.bincount(near, minlength=2 * reach + 1), sums.size - near.size)
    assert expected.min() > 5
    return float(stats.chisquare(observed, expected * sums.size / expected.sum()).pvalue)


CASES = [(Laplace("1.5", grid=1), 1, 8), (Laplace("1.5", grid=1), 3, 12), (Laplace("0.6", grid=1), 7, 8)]
CASES += [(Gaussian(4, grid=1), 3, 18), (Gaussian("0.8", grid=1), 1, 2), (Gaussian("0.8", grid=1), 5, 5)]


@pytest.mark.parametrize(("noise", "count", "reach"), CASES)
def test_sums_follow_the_convolved_law_and_no_other(noise: Noise, count: int, reach: int) -> None:
    # one seed in 1,000 fails at the true scale; 5 % off, the statistic is some 500 above its mean
    sums = noise.simulate_sums(ZEROS, count, np.random.default_rng(41))
    assert convolution_fit(sums, noise, count, reach) > 1e-3
    name = "scale" if isinstance(noise, Laplace) else "sigma"
    for twin in ("0.95", "1.05"):
        off = type(noise)(float(getattr(noise, name)) * float(twin), grid=1)
        assert convolution_fit(sums, off, count, reach) < 1e-9


@pytest.mark.parametrize("count", [1, 5])
def test_summing_low_digits_apart_does_not_change_the_law(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(simulation, "_LARGEST_MEAN", 1.0)  # takes three to five digits apart
    noise = Laplace(4, grid=1)
    sums = noise.simulate_sums(ZEROS, count, np.random.default_rng(42))
    assert convolution_fit(sums, noise, count, 25) > 1e-3  # one seed in 1,000
    assert convolution_fit(sums, Laplace("4.2", grid=1), count, 25) < 1e-9


def deviations(sums: np.ndarray, variance: float) -> float:
    """How far the mean square is from the variance, in standard errors (the sums are normal to 10^-9)."""
    return float((np.mean((sums / np.sqrt(variance)) ** 2) - 1) / np.sqrt(2 / sums.size))


@pytest.mark.parametrize(("scale", "count"), [(2, 10**6), (2, 10**9), (10**6, 10**9)])
def test_sums_of_very_many_have_the_right_variance(scale: int, count: int) -> None:
    # Var K = 2t/(1 − t)², t = e^-a, about 2(scale/grid)². Five standard errors: one seed in 10^6.
    sums = Laplace(scale).simulate_sums(ZEROS[:20_000], count, np.random.default_rng(43))
    variance = 2 * count * (float(scale) * 2**20) ** 2
    assert abs(deviations(sums, variance)) < 5
    for twin in (0.95, 1.05):
        assert abs(deviations(sums, variance * twin**2)) > 5
    assert abs(np.mean(sums) / np.sqrt(variance / sums.size)) < 5


def test_sums_of_very_many_reach_every_residue() -> None:
    # would fail if large means lost their low digits to float64; one seed in 1,000
    sums = Laplace(10**6).simulate_sums(ZEROS[:50_000], 10**9, np.random.default_rng(44))
    assert stats.chisquare(np.bincount(sums % 64, minlength=64)).pvalue > 1e-3


@pytest.mark.parametrize("noise", [Laplace(2), Gaussian(2), Gaussian("0.8", grid=1)])
def test_counts_of_zero_add_nothing_and_broadcast(noise: Noise) -> None:
    counts = np.array([0, 1, 5, 0])
    sums = noise.simulate_sums(np.full((500, 4), 7), counts, np.random.default_rng(45))
    assert (sums[:, [0, 3]] == 7).all()
    assert (sums[:, [1, 2]] != 7).any()


def test_one_scale_per_trial_serves_sums_too() -> None:
    noise = Laplace(np.array([0.001, 1.0, 1000.0]))
    sums = noise.simulate_sums(np.zeros((3, 20_000), dtype=np.int64), 10, np.random.default_rng(46))
    for trial, scale in enumerate([0.001, 1.0, 1000.0]):
        measured = np.mean((sums[trial] / 2.0**20 / scale) ** 2)
        assert measured == pytest.approx(20, rel=0.07)  # 6 standard errors (kurtosis 3.3): one seed in 10^8


def test_sums_that_would_leave_int64_are_refused() -> None:
    with pytest.raises(InvalidValue, match="2\\^62"):
        Laplace(2**29).simulate_sums([0], 10**9, np.random.default_rng(1))
