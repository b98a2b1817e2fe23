"""Uncertified numbers: they steer every search, so they must be near the certified ones; the cheap ones near the others."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants.numerics.contour import saddle
from dpaudit.accountants.shuffle.clone import CLONE, RESPONSE
from dpaudit.accountants.shuffle.inversion import estimated_epsilon, estimated_epsilon0
from dpaudit.accountants.shuffle.laplace.blanket import EndAttack, Family
from dpaudit.accountants.shuffle.laplace.quadrature import LaplaceFloats

LAPLACE = Family()
DELTA = Fraction(1, 10**6)
CROWDS = [(0.01, 10**3), (0.01, 10**6), (1.0, 10**2), (1.0, 10**6), (4.0, 10**3), (8.0, 10**5), (8.0, 10**12)]


@pytest.mark.parametrize("method", ["clone", "laplace"])
@pytest.mark.parametrize(("epsilon0", "n"), [*CROWDS, (8.0, 10), (4.0, 100), (1.0, 10), (0.01, 10), (16.0, 10**9)])
def test_estimates_of_epsilon_and_epsilon0_are_near_the_certified_ones(method: str, epsilon0: float, n: int) -> None:
    family = CLONE if method == "clone" else LAPLACE
    found = dp.amplify(epsilon0, n, DELTA, method=method, attack=False)
    assert estimated_epsilon(family, epsilon0, n, math.log(DELTA)) == pytest.approx(float(found.upper), rel=1e-3, abs=1e-9)
    epsilon = max(found.upper, Fraction(1, 1000))
    inverse = dp.invert(epsilon, n, DELTA, method=method)
    assert estimated_epsilon0(family, float(epsilon), n, math.log(DELTA)) == pytest.approx(float(inverse.lower), rel=1e-3)


@pytest.mark.parametrize("family", [CLONE, LAPLACE])
@pytest.mark.parametrize(("epsilon0", "n"), CROWDS)
def test_the_quick_estimate_is_near_the_other_where_reports_hide_the_target(family: Any, epsilon0: float, n: int) -> None:
    epsilon = estimated_epsilon(family, epsilon0, n, math.log(DELTA))
    value, near = family.quick(epsilon0, n, epsilon)
    assert value == pytest.approx(family.estimate(epsilon0, n, epsilon), abs=0.02)
    assert value == pytest.approx(family.quick(epsilon0, n, epsilon, 1.3 * near)[0], abs=0.01)  # the start hardly matters
    assert family.quick(epsilon0, n, 1.1 * epsilon)[0] < value - 0.02  # another ε would be noticed


@pytest.mark.parametrize("family", [CLONE, RESPONSE, LAPLACE, EndAttack()])
@pytest.mark.parametrize(("epsilon0", "n"), [(0.5, 3), (1.0, 10), (4.0, 10), (8.0, 50)])
def test_delta_falls_to_zero_along_the_line_that_is_said(family: Any, epsilon0: float, n: int) -> None:
    slope, crowd = family.last(epsilon0, n)
    gap = 1e-3 * epsilon0 / (1 + crowd) ** 2
    low, high = family.delta(Fraction(epsilon0), n, Fraction(epsilon0 - gap), Fraction(1, 10**60))
    line = slope + math.log(gap)
    assert float(low) * (1 - 1e-2) <= math.exp(line) <= float(high) * (1 + 1e-2)
    assert not float(low) * (1 - 1e-2) <= math.exp(line + 0.1) <= float(high) * (1 + 1e-2)  # so the ends are close enough to tell


def test_a_saddle_is_found_from_far_away_too() -> None:
    law = LaplaceFloats(4.0, 2**21, 10**5, 0.1)
    at = saddle(law)
    for factor in (1e-6, 0.1, 10.0, 1e6):
        assert saddle(law, at.c * law.top * factor).c == pytest.approx(at.c, rel=2e-3)
    assert at.peak == law.n * law.cumulants(at.c)[0]
