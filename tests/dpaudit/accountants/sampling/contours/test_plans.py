"""Where to put a contour: the search finds the best single moment."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.accountants.sampling.contours.plans import best_place, float_log_moments, kappa, scan
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup, short, short_orders
from dpaudit.accountants.sampling.groups import SampledGaussian


def test_plans_find_the_best_single_moment() -> None:
    floats = FloatGroup.of(SampledGaussian("0.01", "1", 1000))
    size = -math.log(1e-6)
    found = scan(lambda c: 1000 * float_log_moments(floats, "remove", c), lambda c, k: (k + size) / c)
    values = (found.moments + kappa(found.orders) + size) / found.orders
    assert values.argmin() == found.best
    fine = np.geomspace(found.orders[found.best] / 2, found.orders[found.best] * 2, 200)
    assert values.min() <= ((1000 * float_log_moments(floats, "remove", fine) + kappa(fine) + size) / fine).min() * 1.01
    assert short(math.pi) == pytest.approx(math.pi, rel=2**-20)
    assert list(short_orders(fine)) == [short(float(each)) for each in fine]


def test_the_best_place_has_the_widest_step_of_those_that_cancel_little() -> None:
    floats = FloatGroup.of(SampledGaussian("0.01", "1", 1000))
    found = scan(lambda c: 1000 * float_log_moments(floats, "remove", c), lambda c, k: (k - math.log(1e-6)) / c)
    strict, loose = (best_place(found, 2.1245, math.log(1e-6), most) for most in (3.0, 9.0))
    assert strict.cancelled <= 3.0
    assert strict.step <= loose.step
    assert strict.below < strict.c < strict.above
