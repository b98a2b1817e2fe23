from fractions import Fraction

import pytest

from dpaudit.accountants.sampling.groups import SampledGaussian, canonical, plain_part, read_rate, sampled_part
from dpaudit.claims import InvalidValue


def test_equal_groups_are_counted_together_in_one_order():
    a, b = SampledGaussian("0.1", 1, 3), SampledGaussian("0.2", 1, 5)
    assert canonical([b, a, SampledGaussian("1/10", "1.0", 4)]) == canonical([SampledGaussian("0.1", 1, 7), b])


def test_plain_releases_add_up_their_precision():
    groups = canonical([SampledGaussian(1, 2, 4), SampledGaussian(1, 3, 9), SampledGaussian("0.5", 1, 1)])
    assert plain_part(groups) == 2
    assert sampled_part(groups) == (SampledGaussian("0.5", 1, 1),)


@pytest.mark.parametrize("rate", ["0", "-0.1", "1.01", "x"])
def test_a_rate_is_a_probability_above_zero(rate):
    with pytest.raises(InvalidValue):
        read_rate(rate)


def test_rates_and_noise_that_floats_cannot_hold_are_refused():
    with pytest.raises(InvalidValue):
        canonical([SampledGaussian("1e-12", 1, 1)])
    with pytest.raises(InvalidValue):
        canonical([SampledGaussian("0.1", Fraction(1, 100), 1)])


def test_a_fixed_size_is_no_rate():
    with pytest.raises(InvalidValue, match="another mechanism"):
        read_rate("fixed")
    assert read_rate("1/4") == Fraction(1, 4)
