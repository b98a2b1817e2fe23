"""Exact tails against each other, against textbook cases and against simulation (error rate 10^-6, fixed seed)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from proofs_checks.shared.laplace_tails import chernoff, log_tail, simulated_tail, tail, tail_of_distinct, tail_polynomial


def test_one_and_two_noises_have_their_textbook_tails():
    assert tail_polynomial(1) == (Fraction(1, 2),)
    assert tail_polynomial(2) == (Fraction(1, 2), Fraction(1, 4))  # ½e^{-t}(1 + t/2)
    assert tail_of_distinct([Fraction(1)], 3) == pytest.approx(math.exp(-3) / 2)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("t", [0.01, 1.0, 25.0])
def test_the_two_routes_to_the_tail_agree(n, t):
    assert log_tail(n, t)[0] == pytest.approx(float(math.log(tail(n, t))), abs=1e-11)


def test_nearly_equal_coefficients_have_nearly_the_tail_of_equal_ones():
    close = [1 + Fraction(k, 10**6) for k in range(-2, 3)]
    assert float(tail_of_distinct(close, 9)) == pytest.approx(float(tail(5, 9)), rel=1e-4)


@pytest.mark.parametrize(("factor", "agrees"), [(1.0, True), (1.1, False)])
def test_simulated_sums_follow_the_exact_tail_and_not_one_a_tenth_larger(factor, agrees):
    above, draws = simulated_tail(7, 7.0, 1_000_000, 3)
    chance = float(tail(7, 7)) * factor
    p_value = 2 * min(binom.cdf(above, draws, chance), binom.sf(above - 1, draws, chance))
    assert (p_value > 1e-6) == agrees


def test_chernoff_is_above_the_tail_and_below_every_other_exponent():
    for n, tau in ((1, 0.5), (4, 10.0), (100, 30.0)):
        best = float(chernoff(n, tau))
        x = np.linspace(0.001, 0.999, 999)
        assert log_tail(n, tau)[0] <= best <= (-n * np.log1p(-(x**2)) - x * tau).min() + 1e-12
