"""Moments of every kind of part against sums over outputs, and from above."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accountants.losses.moments import float_moment, kappa, part_moment
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve
from dpaudit.claims.balls import precision

STEP = 2**20
DELTA = Fraction(1, 10**6)
LOSSES = ((Fraction(1), Fraction(3, 4)), (Fraction(-1, 2), Fraction(1, 4)))
PARTS: list[tuple[AnyPart, Any]] = [
    (Known(Fraction(1), DELTA, 3), lambda c: 3 * math.log((math.exp(1 + c) + math.exp(-c)) / (1 + math.e))),
    (Concentrated(Fraction(1, 5), 2), lambda c: 2 * 0.2 * c * (c + 1)),
    (RenyiCurve(((Fraction(9), Fraction(1)),), 4), lambda c: 4 * c if c <= 8 else None),
    (LossPart(LOSSES, Fraction(0), 2), lambda c: 2 * math.log(0.75 * math.exp(c) + 0.25 * math.exp(-c / 2))),
    (Part(dp.Gaussian(4), STEP, 2), lambda c: 2 * c * (c + 1) / 32),
    (Part(dp.RandomizedResponse("1"), 1, 3), lambda c: 3 * math.log((math.exp(1 + c) + math.exp(-c)) / (1 + math.e))),
]


@pytest.mark.parametrize(("part", "truth"), PARTS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("c", [0.25, 3.0, 8.0])
def test_the_moment_is_that_of_the_law_rounded_up(part: AnyPart, truth: Any, c: float) -> None:
    found = part_moment(part, Fraction(c), DELTA)
    assert found is not None
    assert float(found[0]) == pytest.approx(truth(c), rel=1e-12)
    assert float(found[0]) >= truth(c) * (1 - 1e-14)
    assert float_moment(part, np.array([c]), DELTA)[0] == pytest.approx(truth(c), rel=1e-9)


def test_beyond_a_curve_nothing_is_known() -> None:
    curve = PARTS[2][0]
    assert part_moment(curve, Fraction(9), DELTA) is None
    assert float_moment(curve, np.array([9.0]), DELTA)[0] == math.inf


def test_a_sample_costs_less_than_all_records_and_at_least_one_direction() -> None:
    whole, sampled = (
        part_moment(Part(dp.Gaussian(1), STEP, 100, sampling=rate), Fraction(4), DELTA) for rate in (None, Fraction(1, 50))
    )
    assert whole is not None
    assert sampled is not None
    u = np.linspace(-12, 24, 200_001)
    weight = np.exp(-u * u / 2) / math.sqrt(2 * math.pi)
    remove = 100 * math.log(np.trapezoid(weight * (0.98 + 0.02 * np.exp(u - 0.5)) ** 5, u))
    assert remove * (1 - 1e-6) <= float(sampled[0]) <= remove * 1.001
    assert sampled[0] < whole[0] / 10
    assert 0 < sampled[1] < DELTA / 1000


@pytest.mark.parametrize("c", [0.1, 1.0, 7.0])
def test_kappa_bounds_the_hockey_stick(c: float) -> None:
    y = np.linspace(1e-9, 60, 100_001)
    with precision(100):
        size = float(kappa(Fraction(c)))
    slack = size + c * y - np.log(-np.expm1(-y))
    assert slack.min() == pytest.approx(0, abs=1e-5)
    assert slack.min() >= -1e-12
