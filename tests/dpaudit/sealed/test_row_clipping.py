"""Rows clipped to a norm: no row is longer, in exact arithmetic; short ones stay; each is computed from itself alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.sealed import row_clipping
from dpaudit.sealed.row_clipping import clipped_rows

numbers = st.one_of(st.floats(-4, 4), st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([1e308, -1e308, 5e-324]))
rows = st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=1, max_size=4))
norms = st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(7, 3), Fraction(1, 2**20), Fraction(2**30), Fraction(3000)])


def power(row: Any, order: int) -> Fraction:
    return sum((abs(Fraction(float(number))) ** order for number in row), Fraction(0))


@given(rows, norms, st.sampled_from([1, 2]))
def test_no_row_is_longer_than_the_norm_and_all_lie_on_the_grid(table: Any, norm: Fraction, order: int) -> None:
    clipped = clipped_rows(np.array(table), norm, order)
    for row in clipped:
        assert power(row, order) <= norm**order
        assert all((Fraction(float(number)) * 2**20).denominator == 1 for number in row)


@given(rows, norms, st.sampled_from([1, 2]))
def test_a_row_comes_out_the_same_alone(table: Any, norm: Fraction, order: int) -> None:
    together = clipped_rows(np.array(table), norm, order)
    for row, clipped in zip(table, together, strict=True):
        assert np.array_equal(clipped_rows(np.array([row]), norm, order)[0], clipped)
    assert np.array_equal(clipped_rows(np.asfortranarray(table), norm, order), together)


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=4), st.sampled_from([1, 2]))
def test_short_rows_stay_and_long_ones_keep_their_direction(table: Any, order: int) -> None:
    given_rows = np.array(table) / 4
    clipped = clipped_rows(given_rows, Fraction(2), order)
    lengths = np.linalg.norm(given_rows, ord=order, axis=1)
    for row, short, length in zip(given_rows, clipped, lengths, strict=True):
        if power(row, order) <= 2**order:
            assert np.array_equal(row, short)
        else:
            np.testing.assert_allclose(short, row * 2 / length, rtol=0, atol=2**-19)


def test_an_error_in_the_norm_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: without the margin for rounding, and rounded to the nearest, some row is too long."""
    table = np.random.default_rng(1).normal(size=(2000, 7))
    monkeypatch.setattr(row_clipping.np, "trunc", np.rint)
    assert any(power(row, 2) > 1 for row in clipped_rows(table, Fraction(1), 2))


def test_rows_that_are_not_numbers_become_zero() -> None:
    assert not clipped_rows(np.array([[np.nan, 1.0], [np.inf, 1.0]]), Fraction(1), 2).any()


def test_empty_tables_and_numbers_pass() -> None:
    assert clipped_rows(np.zeros((0, 3)), Fraction(1), 2).shape == (0, 3)
    assert list(dp.clip_rows([3.0, -0.5], 1)) == [1.0 - 2**-20, -0.5]
