"""The binomial law against exact sums of fractions, and against scipy's."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.auditors.binomial import least_count, tail_above


def exact_tail(count: int, runs: int, chance: Fraction) -> Fraction:
    return sum((comb(runs, k) * chance**k * (1 - chance) ** (runs - k) for k in range(count + 1, runs + 1)), Fraction(0))


@pytest.mark.parametrize(("runs", "chance"), [(1, 0.5), (7, 0.25), (40, 0.75), (40, 2.0**-20)])
def test_tails_are_those_of_the_exact_sums(runs: int, chance: float) -> None:
    counts = np.arange(-2, runs + 2)
    exact = [float(exact_tail(max(int(k), -1), runs, Fraction(chance))) for k in counts]
    np.testing.assert_allclose(tail_above(counts, runs, chance), exact, rtol=1e-11)


@pytest.mark.parametrize("runs", [0, 1, 5, 1000, 10**6])
@pytest.mark.parametrize("chance", [0.0, 1e-9, 0.3, 0.731, 1.0])
@pytest.mark.parametrize("level", [1e-12, 3.3e-7, 0.05, 0.8])
def test_the_least_count_has_the_tail_and_the_one_below_has_not(level: float, chance: float, runs: int) -> None:
    count = least_count(level, runs, chance)
    assert binom.sf(count, runs, chance) <= level * (1 + 1e-9)
    assert count == 0 or binom.sf(count - 1, runs, chance) > level * (1 - 1e-9)


def test_every_count_has_a_tail_of_one() -> None:
    assert least_count(1.0, 10, 0.5) == 0
