"""The grid: exact rounding, and nothing that depends on a private value but the value rounded."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID, from_units, to_units
from dpaudit.noise.mechanism import LARGEST, as_counts, as_units

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


MORE_GRIDS = [GRID, Fraction(1), Fraction(8), Fraction(1, 10), Fraction(3), Fraction(2**70), Fraction(1, 2**190)]


@pytest.mark.parametrize("grid", MORE_GRIDS)
def test_units_agree_with_exact_arithmetic_for_every_type(grid: Fraction) -> None:
    rng = np.random.default_rng(20)
    wide = rng.normal(size=200) * 10.0 ** rng.uniform(-8, 18, 200)
    halves = rng.integers(-8, 8, 30) * float(grid) / 2
    extremes = np.array([-(2**63), 2**63 - 1, 2**62, 0, 1])
    large = rng.integers(0, 2**63, 50).astype(np.uint64) * np.uint64(2)
    for numbers in (wide, halves, extremes, large, rng.integers(-50, 50, 50), rng.random(9) < 0.5, wide.astype(np.float32)):
        wanted = [math.floor(Fraction(number.item()) / grid + Fraction(1, 2)) for number in numbers]
        assert to_units(numbers, grid).tolist() == [min(max(units, -LARGEST), LARGEST) for units in wanted]


def test_extended_precision_is_not_rounded_twice() -> None:
    """Just below a half: rounding to float64 first would make it a half, and the unit one too many."""
    below = np.longdouble(1) / 2 - np.longdouble(2) ** -62
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("no extended precision on this platform")
    assert float(below) == 0.5
    assert to_units(below, Fraction(1)) == 0


@pytest.mark.parametrize("grid", ["1e-320", "1e300", 0, -1])
def test_a_grid_that_floats_cannot_hold_is_refused(grid: object) -> None:
    for noise in (dp.Laplace, dp.Gaussian):
        with pytest.raises(dp.DpauditError):
            noise(1, grid=grid)  # type: ignore[arg-type]
