"""The public setting of the loop, and steps whose noise is the same in all batches."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from algorithms.elimination.setting import SameNoise, Setting
from dpaudit.claims import InvalidValue

ACTIONS = np.array([[1.0, 0.0], [0.0, 1.0]])


def test_batches_grow_by_q_and_as_many_as_fit_are_played() -> None:
    setting = Setting(ACTIONS, 10**6)
    q = (2 * 10**6) ** (1 / math.log(10**6))
    sizes = [math.ceil(q**i) for i in range(1, setting.batches_at_most + 2)]
    assert setting.growth == pytest.approx(q)
    assert sum(sizes[:-1]) <= 10**6 < sum(sizes)


@pytest.mark.parametrize("wrong", [{"design": "best"}, {"maximum": "some"}, {"low": 1.0}, {"low": 2.0}])
def test_what_the_loop_does_not_know_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=next(iter(wrong))):
        Setting(ACTIONS, 100, **wrong)


@pytest.mark.parametrize(("calibration", "sensitivity"), [("printed", 1), ("corrected", 3), ("tight", 3)])
def test_printed_noise_is_for_a_sensitivity_of_1_corrected_noise_for_the_range(calibration: Any, sensitivity: int) -> None:
    step = SameNoise(Fraction(1, 2), calibration, Fraction(3))
    scales, epsilons, exact = step.terms(np.ones((2, 4)))
    assert step.sensitivity == sensitivity
    assert exact == [Fraction(2 * sensitivity)] * 2
    assert scales.tolist() == [2.0 * sensitivity] * 2
    assert epsilons.tolist() == [0.5] * 2
