"""What a plan says of counts of unknown keys: read back from its code, and refused where it means nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import noise_from, python_code


def test_its_code_makes_it_again_and_its_record_is_laplace_noise() -> None:
    noise = dp.ThresholdedLaplace("2/3", "1e-6")
    assert eval(python_code(noise), {"dp": dp}) == noise
    release = dp.Planned("keys", noise, 2).release(None)
    assert (release.mechanism, release.failure, release.steps) == ("laplace", "1e-6", 2)
    assert noise_from(release.mechanism, release.parameters).epsilon(2) == Fraction(3)
    assert (dp.account([release], delta="1e-6").epsilon, dp.account([release], delta="1e-6").delta) == (3, Fraction("1e-6"))


@pytest.mark.parametrize("bad", [(0, "0.1"), (1, 0), (1, 1), (1, "0.1", 2), ("wide", "0.1")])
def test_meaningless_parameters_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidValue):
        dp.ThresholdedLaplace(*bad)
