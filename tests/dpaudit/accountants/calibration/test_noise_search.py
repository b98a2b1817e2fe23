"""The search for the least noise: it ends beside the root of whatever curve it is given, on the safe side."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpaudit.accountants.calibration.noise_search import CLOSE, DIGITS, NoiseTask, least, least_size
from dpaudit.noise import GRID


def task(epsilon: str = "1", delta: str = "1e-6") -> NoiseTask:
    return NoiseTask("gaussian", Fraction(epsilon), Fraction(delta), int(1 / GRID), GRID, 1)


@pytest.mark.parametrize("root", ["0.001", "0.7", "5", "3000"])
def test_the_size_is_the_root_rounded_up_to_a_short_number(root: str) -> None:
    at = Fraction(root) + Fraction(1, 3 * 10**9)
    found = least_size(task(), lambda size: float(at / size) - 1 if size < at else min(0.0, float(at / size) - 1))
    size = Fraction(found.parameters()["sigma"])
    assert at <= size <= at * (1 + 20 * CLOSE)
    assert len(found.parameters()["sigma"].replace(".", "").strip("0")) <= DIGITS


def test_a_curve_of_delta_is_met_and_not_far_above() -> None:
    asked = task()
    found = least(asked, lambda noise: min(Fraction(1), Fraction(1, 10**5) / Fraction(noise.parameters()["sigma"]) ** 2))
    size = Fraction(found.parameters()["sigma"])
    assert 10 <= size**2 <= 10 * (1 + 40 * CLOSE)
