from fractions import Fraction

import pytest

from dpaudit.accountants import Part, compose
from dpaudit.accountants.sampling import SampledGaussian, sampled_epsilon
from dpaudit.accountants.sampling.discrete_noise import continuous_noise, root_down
from dpaudit.claims import InvalidValue
from dpaudit.noise import Gaussian

UNITS = Fraction(2**20)


def test_the_default_grid_moves_epsilon_by_almost_nothing():
    smooth = sampled_epsilon([SampledGaussian("0.01", 1, 1000)], "1e-6")
    grid = compose([Part(Gaussian(1), int(UNITS), 1000, sampling=Fraction(1, 100))], Fraction(1, 10**6))
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
