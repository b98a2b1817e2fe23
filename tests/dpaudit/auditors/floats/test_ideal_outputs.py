"""Outputs for claims about ideal arithmetic: rounded to within 2^-30, of the same kind, and no last bits left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.floats.ideal_outputs import round_floats, with_ideal_outputs, with_outputs_as_they_are
from dpaudit.auditors.floats.porosity import porosity


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-300 < abs(x) < 1e300))
def test_a_float_moves_by_a_relative_two_to_the_minus_thirty_at_most(value: float) -> None:
    rounded = round_floats(value)
    assert type(rounded) is float
    assert abs(rounded - value) <= abs(value) * 2.0**-30
    assert round_floats(rounded) == rounded


@pytest.mark.parametrize("value", [3, "text", None, True, b"x", 2**60, np.int64(2**60), float("inf"), -float("inf")])
def test_what_has_no_last_bits_stays(value: Any) -> None:
    assert round_floats(value) == value
    assert type(round_floats(value)) is type(value)


def test_nan_tuples_arrays_and_dicts_keep_their_kind() -> None:
    value = (1 / 3, [2 / 3, "word"], np.array([1 / 3, np.nan]), {"key": np.float32(1 / 3)})
    first, (second, word), array, table = round_floats(value)
    assert 0 < abs(first - 1 / 3) < 1e-9
    assert 0 < abs(second - 2 / 3) < 1e-9
    assert word == "word"
    assert array.dtype == np.float64
    assert np.isnan(array[1])
    assert table["key"].dtype == np.float32
    assert table["key"] != np.float32(1 / 3)


def test_nothing_porous_is_left_of_porous_noise() -> None:
    rng = np.random.default_rng(1)
    sides = rng.laplace(size=20_000), 1 + rng.laplace(size=20_000)
    assert porosity(*sides, epsilon=1.0) is not None
    assert porosity(round_floats(sides[0]), round_floats(sides[1]), epsilon=1.0) is None


def test_a_subject_is_rounded_and_can_be_had_as_it_is() -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=1, low=0, high=1))
    def third(data: Any, rng: Any) -> Any:
        return 1 / 3

    assert with_ideal_outputs(third).public(1 / 3) != 1 / 3
    assert with_outputs_as_they_are(with_ideal_outputs(third)).public(1 / 3) == 1 / 3
    assert with_outputs_as_they_are(third) is third
