"""Hit rates against the exact trade-offs of the Gaussian, of Laplace noise and of randomised response."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.accountants.curves.trade_off import trade_off
from dpaudit.accountants.losses.parts import AnyPart, Known, Part

STEP = 2**20
DELTA = Fraction(1, 10**6)


def test_a_gaussian_has_the_power_of_the_best_test() -> None:
    """Dong, Roth, Su 2022: TPR = Φ(Φ^{-1}(FPR) + μ); the envelope of 24 points is above it by little."""
    group: Counter[AnyPart] = Counter({Part(dp.Gaussian(2), STEP): 4})
    for rate in trade_off([group], DELTA, fixed=True):
        truth = float(norm.cdf(norm.ppf(float(rate.false)) + 1))
        assert truth * (1 - 1e-9) <= float(rate.true) <= truth * 1.05


def test_randomised_response_is_met_exactly_and_from_above() -> None:
    group: Counter[AnyPart] = Counter({Part(dp.RandomizedResponse("1"), 1): 1})
    for rate in trade_off([group], DELTA, fixed=True):
        alpha = float(rate.false)
        truth = min(math.e * alpha, 1 - (1 - alpha) / math.e)
        assert truth <= float(rate.true) <= truth * (1 + 1e-7)


def test_what_may_fail_is_at_least_so_likely_to_be_seen() -> None:
    group: Counter[AnyPart] = Counter({Known(Fraction(1), Fraction(1, 100)): 1})
    first = trade_off([group], Fraction(1, 100), fixed=True)[0]
    assert first.true >= Fraction(1, 100)
    assert float(first.true) == pytest.approx(0.01 + 1e-5 * math.e, rel=0.02)
