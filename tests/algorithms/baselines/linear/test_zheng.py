"""Zheng's σ is several times what its claim needs for one changed reward, and the accountant says so."""

from __future__ import annotations

import math
from fractions import Fraction

from algorithms.baselines.linear.zheng import Zheng
from dpaudit.accountants.calibration.least_noise import calibrate


def test_sigma_is_the_published_constant_and_more_than_three_times_the_least():
    system = Zheng(Fraction(1), Fraction(1, 10**6), 10**6, 2)
    assert math.isclose(system.sigma, 6 * math.sqrt(2 * math.log(2.5e6)))
    least = float(calibrate("gaussian", 1, "1e-6", sensitivity=2).rule.value)
    assert system.sigma > 3 * least
