import math
from fractions import Fraction

import pytest

from dpaudit.accountants.sampling.pure_sampling import sampled_pure


def test_a_sampled_randomised_response_attains_it():
    """Answers by ε-randomised response if sampled, else by a fair coin against a fair coin: the largest loss, by enumeration."""
    epsilon, rate = 1.0, 0.25
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    # without the record the mechanism answers with probability 1 − truth; sampled with it, with truth
    present, absent = rate * truth + (1 - rate) * (1 - truth), 1 - truth
    assert float(sampled_pure(Fraction(1), Fraction(1, 4))) == pytest.approx(math.log(present / absent), rel=1e-12)


def test_it_is_rounded_up_and_never_above_the_unsampled_cost():
    value = sampled_pure(Fraction(1, 10), Fraction(1, 100))
    assert float(value) >= math.log1p(0.01 * math.expm1(0.1)) * (1 - 1e-15)
    assert value <= Fraction(1, 10)
    assert sampled_pure(Fraction(3), Fraction(1)) == 3
    assert sampled_pure(Fraction(0), Fraction(1, 2)) == 0
