"""Public weights: whole numbers times a common divisor, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.sealed.traces.weights import MOST, one_weight, whole_weights


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=6).filter(any), st.floats(1e-5, 1e5))
def test_whole_numbers_times_the_divisor_are_the_weights(whole: Any, unit: float) -> None:
    weights = [float(w) * unit for w in whole]
    found = whole_weights(weights)
    if found is not None:
        assert [Fraction(float(w)) * found[1] for w in found[0]] == [Fraction(w) for w in weights]
        assert np.abs(found[0]).max() <= MOST


@pytest.mark.parametrize(
    ("weights", "divisor"),
    [
        ([1, 2, 3], Fraction(1)),
        ([0.5, 1.5], Fraction(1, 2)),
        ([0.1, 0.2], Fraction(0.1)),
        ([6, 0, 9], Fraction(3)),
        (-0.25, Fraction(1, 4)),
    ],
)
def test_the_divisor_is_the_greatest(weights: Any, divisor: Fraction) -> None:
    found = whole_weights(weights)
    assert found is not None
    assert found[1] == divisor


@pytest.mark.parametrize("weights", [[0.1, 0.3], [0.0], [np.inf, 1.0], [1e-300, 1.0], ["a"]])
def test_other_weights_have_none(weights: Any) -> None:
    assert whole_weights(weights) is None


def test_one_weight_is_its_exact_value_or_the_inverse() -> None:
    assert one_weight(0.1) == Fraction(0.1)
    assert one_weight(np.array(3), inverse=True) == Fraction(1, 3)
    assert one_weight([1.0, 1.0]) is None
    assert one_weight(0) is None
