"""Randomised response: exact flips, sums, ratios and the curve of one and several bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpaudit.claims import InvalidValue
from dpaudit.noise import RandomizedResponse, ReplaySource, SecureSource

BITS = np.arange(400_000) % 2


@pytest.mark.parametrize("kind", ["live", "simulated"])
def test_bits_are_kept_with_the_stated_probability(kind: str) -> None:
    # 400,000 bits: one seed in 1,000 fails; 5 % off ε is 13 standard deviations away
    noise = RandomizedResponse(1)
    seen = noise.draw(BITS, ReplaySource(61)) if kind == "live" else noise.simulate(BITS, np.random.default_rng(61))
    assert set(np.unique(seen)) == {0, 1}
    for bit in (0, 1):
        kept = int((seen[bit == BITS] == bit).sum())
        assert stats.binomtest(kept, 200_000, 1 / (1 + np.exp(-1.0))).pvalue > 1e-3
        for twin in (0.95, 1.05):
            assert stats.binomtest(kept, 200_000, 1 / (1 + np.exp(-twin))).pvalue < 1e-9


def test_sums_count_the_ones_that_are_reported() -> None:
    # 30 ones among 100 bits: Bin(30, p) + Bin(70, 1 − p); one seed in 1,000 fails
    sums = RandomizedResponse(1).simulate_sums(np.full(100_000, 30), 100, np.random.default_rng(62))

    def p_value(epsilon: float) -> float:
        p = 1 / (1 + np.exp(-epsilon))
        law = np.convolve(stats.binom.pmf(np.arange(31), 30, p), stats.binom.pmf(np.arange(71), 70, 1 - p))
        expected = np.concatenate([[law[:28].sum()], law[28:55], [law[55:].sum()]]) * sums.size
        observed = np.bincount(np.clip(sums, 27, 55) - 27, minlength=29)
        return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)

    assert p_value(1.0) > 1e-3
    assert max(p_value(0.95), p_value(1.05)) < 1e-9


def test_values_that_are_not_bits_never_raise() -> None:
    sure = RandomizedResponse(1000)  # flips once in e^1000
    assert sure.draw([-5, 0, 1, 7], SecureSource()).tolist() == [0, 0, 1, 1]
    assert sure.simulate([-5, 0, 1, 7], np.random.default_rng(1)).tolist() == [0, 0, 1, 1]
    assert sure.simulate_sums([-5, 12], 10, np.random.default_rng(1)).tolist() == [0, 10]


def test_one_epsilon_per_trial() -> None:
    noise = RandomizedResponse(np.array([0.001, 1000.0]))
    seen = noise.simulate(np.zeros((2, 10_000), dtype=np.int64), np.random.default_rng(63))
    assert abs(seen[0].mean() - 0.5) < 0.03  # 6 standard deviations
    assert seen[1].sum() == 0
    assert noise.at(1) == RandomizedResponse(1000)
    assert noise.log_ratio([[1], [1]], 1, 0).tolist() == [[0.001], [1000.0]]


@pytest.mark.parametrize(("output", "query", "other"), list(product([0, 1], repeat=3)))
def test_ratios_agree_with_the_probabilities(output: int, query: int, other: int) -> None:
    noise = RandomizedResponse("0.7")
    exact = noise.exact_log_ratio(output, query, other)
    assert exact in (Fraction("0.7"), 0, -Fraction("0.7"))
    difference = noise.log_prob(output ^ query) - noise.log_prob(output ^ other)
    assert float(difference) == pytest.approx(float(exact), abs=1e-15)
    assert float(noise.log_ratio(output, query, other)) == float(exact)


def test_the_two_probabilities_sum_to_one_and_are_the_tails() -> None:
    noise = RandomizedResponse("0.7")
    with mpmath.workdps(30):
        assert abs(mpmath.exp(noise.log_prob(0)) + mpmath.exp(noise.log_prob(1)) - 1) < mpmath.mpf(10) ** -28
        lower, upper = (mpmath.mpf(e.numerator) / e.denominator for e in noise.tail(1))
        assert lower <= mpmath.exp(noise.log_prob(1, 40)) <= upper
    assert noise.tail(0) == (1, 1)
    assert noise.tail(2) == (0, 0)
    assert noise.log_prob(2) == mpmath.ninf


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.7", "1.5"])
def test_delta_is_the_sum_over_all_outputs_rounded_up(k: int, epsilon: str) -> None:
    noise = RandomizedResponse("0.7")
    with mpmath.workdps(100):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf("0.7")))
        brute = mpmath.mpf(0)
        for output in product([0, 1], repeat=k):
            ones = sum(output)
            loss = p**ones * (1 - p) ** (k - ones) - mpmath.exp(mpmath.mpf(epsilon)) * p ** (k - ones) * (1 - p) ** ones
            brute += max(loss, 0)
        delta = noise.delta(Fraction(epsilon), k)
        bound = mpmath.mpf(delta.numerator) / delta.denominator
        assert brute <= bound <= brute * (1 + mpmath.mpf(10) ** -15)
        assert (delta == 0) == (Fraction(epsilon) >= k * Fraction("0.7"))


def test_one_bit_costs_epsilon() -> None:
    assert RandomizedResponse("0.1").epsilon(1) == Fraction(1, 10)
    assert RandomizedResponse("0.1").epsilon(0) == 0
    assert RandomizedResponse("0.1").parameters() == {"epsilon": "0.1", "grid": "1"}


@pytest.mark.parametrize("bad", [0, -1, float("inf"), "much", 10**30])
def test_meaningless_epsilons_are_refused(bad) -> None:
    with pytest.raises(InvalidValue, match="epsilon"):
        RandomizedResponse(bad)
