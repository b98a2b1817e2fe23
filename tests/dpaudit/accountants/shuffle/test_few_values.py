from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from dpaudit.accountants.shuffle.blankets import UNARY
from dpaudit.claims.balls import precision


def test_floats_and_balls_are_one_law() -> None:
    with precision(128):
        (law,) = UNARY.enclosures(Fraction(1), 100, Fraction("0.1"))
        moment = float(law.moment(flint.acb(0.3)).real)
        assert float(sum((w for w, _ in law.atoms), law.empty)) == pytest.approx(1, rel=1e-15)
        assert float(sum(w * g for w, g in law.atoms)) == pytest.approx(float(law.mean), rel=1e-12)
    height, first, second = law.floats.cumulants(0.3)
    assert height == pytest.approx(math.log(moment), rel=1e-12)
    assert float(law.floats.log_moment(np.array([0.3 + 0j]))[0].real) == pytest.approx(height, rel=1e-12)
    step = 1e-5
    around = [law.floats.cumulants(0.3 + sign * step)[0] for sign in (1, -1)]
    assert first == pytest.approx((around[0] - around[1]) / (2 * step), rel=1e-6)
    assert second == pytest.approx((around[0] + around[1] - 2 * height) / step**2, rel=1e-3)


def test_the_tilted_law_never_claims_more_loss_than_there_is() -> None:
    with precision(128):
        (law,) = UNARY.enclosures(Fraction(2), 100, Fraction("0.3"))
        tilt, peak = law.tilt(0.5), float(law.moment(flint.acb(0.5)).real)
        for low, high in ((0.1, 0.3), (1.0, 1.2), (2.0, 2.05)):
            least = min(-math.log(float(abs(law.moment(flint.acb(0.5, t)))) / peak) for t in np.linspace(low, high, 50))
            assert 0 <= tilt.loss(low, high) <= least


def test_a_report_alone_bounds_the_sum_on_both_sides() -> None:
    with precision(128):
        (law,) = UNARY.enclosures(Fraction(1), 1, Fraction("0.1"))
        low, high = law.alone()
        assert float(low) == pytest.approx(float(high), rel=1e-12)  # one report: exact
        (law,) = UNARY.enclosures(Fraction(1), 20, Fraction("0.1"))
        low, high = law.alone()
        assert 0 < float(low) < float(high)
