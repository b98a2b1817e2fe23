"""The grid: exact rounding, and nothing that depends on a private value but the value rounded."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID, from_units, to_units
from dpaudit.noise.base import LARGEST, as_counts, as_units

GRIDS = [GRID, Fraction(1), Fraction(2), Fraction(1, 10), Fraction(3, 7)]


def rounded(x: float, grid: Fraction) -> int:
    """The definition, in exact arithmetic."""
    return min(max(math.floor(Fraction(x) / grid + Fraction(1, 2)), -LARGEST), LARGEST)


@given(x=st.floats(allow_nan=False, allow_infinity=False), grid=st.sampled_from(GRIDS))
def test_floats_are_rounded_as_defined(x: float, grid: Fraction) -> None:
    assert int(to_units(x, grid)) == rounded(x, grid)


@given(k=st.integers(-(2**51), 2**51), ulps=st.integers(-2, 2), grid=st.sampled_from(GRIDS))
def test_floats_next_to_a_boundary_are_rounded_as_defined(k: int, ulps: int, grid: Fraction) -> None:
    x = float((k + Fraction(1, 2)) * grid)
    for _ in range(abs(ulps)):
        x = math.nextafter(x, math.copysign(math.inf, ulps))
    assert int(to_units(x, grid)) == rounded(x, grid)


@given(x=st.integers(-(2**63), 2**63 - 1), grid=st.sampled_from(GRIDS))
def test_integers_are_rounded_as_defined(x: int, grid: Fraction) -> None:
    assert int(to_units(np.array([x], dtype=np.int64), grid)[0]) == rounded(x, grid)


@given(st.lists(st.floats(width=64), min_size=2, max_size=2).filter(lambda p: not any(map(math.isnan, p))))
def test_rounding_keeps_the_order(pair: list[float]) -> None:
    low, high = to_units(sorted(pair))
    assert low <= high


def test_values_that_are_not_finite_or_too_large_never_raise() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 2.0**32, -(2.0**33)])
    assert to_units(values).tolist() == [0, LARGEST, -LARGEST, LARGEST, -LARGEST, 0, LARGEST, -LARGEST]


@given(st.integers(-(2**52), 2**52))
def test_units_survive_the_way_to_floats_and_back(k: int) -> None:
    assert int(to_units(from_units(k))) == k


def test_shapes_and_small_types_are_kept() -> None:
    assert to_units(0.5).shape == ()
    assert to_units(np.zeros((2, 3), dtype=np.float32)).shape == (2, 3)
    assert to_units([True, False], Fraction(1)).tolist() == [1, 0]
    assert to_units(np.array([255], dtype=np.uint8), Fraction(1)).tolist() == [255]


@pytest.mark.parametrize("private", [["secret-7"], [Fraction(7, 3)], [7 + 3j], [None], [[1.0], [777.0, 7.0]], {"a": 777}])
def test_wrong_types_are_refused_without_showing_the_data(private: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        to_units(private)  # type: ignore[arg-type]
    assert "7" not in str(refused.value)
    assert "7" not in repr(refused.value.value)
    assert refused.value.__cause__ is None


def test_units_are_whole_numbers_clipped_where_noise_could_overflow() -> None:
    assert as_units(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2**61]
    assert as_units(np.array([-(2**63)])).tolist() == [-(2**61)]
    assert as_units(np.array([-5], dtype=np.int8)).tolist() == [-5]
    with pytest.raises(InvalidValue, match="see to_units"):
        as_units([0.5])


def test_negative_counts_are_refused() -> None:
    with pytest.raises(InvalidValue, match="counts"):
        as_counts([1, -1], (2,))
