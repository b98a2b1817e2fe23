from fractions import Fraction

import pytest

from dpaudit.accountants.sampling import SampledGaussian, sampled_epsilon
from dpaudit.accountants.sampling.discrete_noise import (
    continuous_noise,
    discrete_epsilon,
    group_of_two,
    refuse_fixed_size,
    replace_one_epsilon,
    root_down,
)
from dpaudit.claims import InvalidValue

UNITS = Fraction(2**20)


def test_the_default_grid_moves_epsilon_by_almost_nothing():
    smooth = sampled_epsilon([SampledGaussian("0.01", 1, 1000)], "1e-6")
    grid = discrete_epsilon([(Fraction(1, 100), UNITS, UNITS, 1000)], "1e-6")
    assert grid.lower <= smooth.lower <= smooth.upper <= grid.upper
    assert grid.upper - grid.lower < Fraction(1, 10**8)


def test_from_above_there_is_less_noise_and_from_below_more():
    above = continuous_noise(1000, 1000, 10, Fraction(1, 10**6), up=True)
    below = continuous_noise(1000, 1000, 10, Fraction(1, 10**6), up=False)
    assert above.variance < 1 < below.variance
    assert 0 < above.missed < Fraction(1, 10**15)


def test_noise_of_few_steps_is_refused():
    with pytest.raises(InvalidValue):
        continuous_noise(2, 2, 10, Fraction(1, 10**6), up=True)


def test_the_root_is_rounded_down():
    assert root_down(Fraction(2)) ** 2 <= 2 < (root_down(Fraction(2)) + Fraction(1, 2**60)) ** 2


def test_replace_one_is_two_steps_of_add_and_remove():
    groups = [SampledGaussian("0.01", 1, 1000)]
    single, replaced = sampled_epsilon(groups, "1e-6"), replace_one_epsilon(groups, "1e-6")
    assert replaced.upper > 2 * single.upper
    half = sampled_epsilon(groups, Fraction(1, 10**6) / 12)
    assert replaced.upper < 2 * half.upper * Fraction(11, 10)
    assert group_of_two(Fraction(0), Fraction(1, 8)) == (0, pytest.approx(Fraction(1, 4)))


def test_samples_of_fixed_size_are_refused_with_the_reason():
    with pytest.raises(InvalidValue, match="another theorem"):
        refuse_fixed_size()
