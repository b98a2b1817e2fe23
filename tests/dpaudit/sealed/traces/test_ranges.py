"""Ranges of functions: as numpy computes them, no value inside lies outside, and the ends are not far away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.sealed.traces import ranges

FUNCTIONS = {f.__name__: f for f in ranges.FUNCTIONS}
ends = st.lists(st.one_of(st.floats(-30, 30), st.sampled_from([0.0, 1.0, -1.0, 0.5])), min_size=2, max_size=2).map(
    lambda two: sorted(v + 0.0 for v in two)
)
DRAWN = settings(max_examples=150, deadline=None, derandomize=True)


def inside(low: float, high: float, count: int = 200) -> np.ndarray:
    """Numbers of a range: its ends, their neighbours, 0, and others."""
    near = [np.nextafter(low, np.inf), np.nextafter(high, -np.inf), 0.0, 1.0, -1.0]
    drawn = np.random.default_rng(abs(hash((low, high))) % 2**32).uniform(low, high, count)
    return np.clip(np.concatenate([[low, high], near, drawn]), low, high)


def holds(found: ranges.Range, values: np.ndarray) -> bool:
    numbers = values[~np.isnan(values)]
    return bool((numbers >= found[0]).all() and (numbers <= found[1]).all()) and (found[2] or len(numbers) == len(values))


@pytest.mark.parametrize("name", FUNCTIONS)
@DRAWN
@given(bounds=ends)
def test_every_value_of_a_function_lies_in_its_range(name: str, bounds: list[float]) -> None:
    low, high = bounds
    with np.errstate(all="ignore"):
        found = ranges.FUNCTIONS[FUNCTIONS[name]]((np.array(low), np.array(high), False))
        values = FUNCTIONS[name](inside(low, high))
    assert holds(found, values)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("sin", "cos")])
@DRAWN
@given(bounds=ends)
def test_the_range_of_a_function_is_no_wider_than_its_values_but_for_the_last_places(name: str, bounds: list[float]) -> None:
    low, high = bounds
    with np.errstate(all="ignore"):
        found = ranges.FUNCTIONS[FUNCTIONS[name]]((np.array(low), np.array(high), False))
        values = FUNCTIONS[name](inside(low, high))
    numbers = values[~np.isnan(values)]
    if len(numbers) and np.isfinite(numbers).all() and not found[2]:
        slack = 1e-13 * np.abs(numbers).max() + 1e-300
        assert float(found[0]) >= numbers.min() - slack
        assert float(found[1]) <= numbers.max() + slack


@pytest.mark.parametrize("function", [np.add, np.subtract, np.multiply, np.true_divide, np.minimum, np.maximum])
@DRAWN
@given(one=ends, other=ends)
def test_every_value_of_two_numbers_lies_between_the_corners(function: Any, one: list[float], other: list[float]) -> None:
    a, b = ((np.array(low), np.array(high), False) for low, high in (one, other))
    found = ranges.corners(function, a, b)
    if found is None:
        assert function is np.true_divide
        assert other[0] <= 0 <= other[1]
        return
    x, y = np.meshgrid(inside(*one, 20), inside(*other, 20))
    with np.errstate(all="ignore"):
        assert holds(found, function(x, y).ravel())


@DRAWN
@given(bounds=ends, exponent=st.sampled_from([-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.7, 2.0, 3.0, 4.0]))
def test_every_power_lies_in_its_range(bounds: list[float], exponent: float) -> None:
    low, high = bounds
    found = ranges.power((np.array(low), np.array(high), False), np.array(exponent))
    if found is None:
        assert low <= 0
        assert exponent < 0 or exponent != np.floor(exponent)
        return
    with np.errstate(all="ignore"):
        assert holds(found, np.power(inside(low, high), exponent))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_a_number_does_not_depend_on_where_the_number_stands(name: str) -> None:
    """What the sealed operations rest on: numpy computes each entry from its own operand alone, whatever the length and place."""
    numbers = np.random.default_rng(1).uniform(-4, 4, 200)
    table = np.repeat(numbers, 3).reshape(-1, 3)
    with np.errstate(all="ignore"):
        whole = FUNCTIONS[name](numbers)
        for start in (0, 1, 2, 3, 5):
            for length in (1, 2, 3, 4, 7, 8, 9, 63, 64, 65):
                part = slice(start, start + length)
                assert np.array_equal(FUNCTIONS[name](numbers[part].copy()), whole[part], equal_nan=True)
                assert np.array_equal(FUNCTIONS[name](table[part, 1]), whole[part], equal_nan=True)


def test_a_range_that_says_too_little_is_found() -> None:
    """The twin: an even function taken for an increasing one."""
    found = ranges.increasing(np.square)((np.array(-1.0), np.array(1.0), False))
    assert not holds(found, np.square(inside(-1.0, 1.0)))
