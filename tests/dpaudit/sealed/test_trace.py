"""Traces: how exactly a value was computed, and where in the user's code."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.sealed.callers import caller
from dpaudit.sealed.trace import Precision, bits_of, gap


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_bits_are_the_binary_places_of_a_number(number: float) -> None:
    denominator = Fraction(number).denominator
    assert bits_of(number) == denominator.bit_length() - 1


def test_bits_of_several_numbers_are_those_of_the_finest() -> None:
    assert bits_of([0.5, 0.25, 3.0, np.inf, np.nan]) == 2
    assert bits_of([]) == bits_of(0.0) == 0


@pytest.mark.parametrize(
    ("bits", "size", "is_exact"), [(20, 2.0**31, True), (20, 2.0**33, False), (1000, 1.0, False), (52, 0.5, True)]
)
def test_a_value_is_exact_while_it_and_its_differences_fit_into_a_float(bits: int, size: float, is_exact: bool) -> None:
    assert (Precision(20, 1.0).combine(bits, size, 1).slop == 0) is is_exact


def test_the_error_of_a_long_inexact_sum_is_covered_by_its_slop() -> None:
    """A thousand sums of thirds, added one after the other, against exact fractions."""
    values = np.random.default_rng(5).uniform(-1, 1, 1000) / 3
    bound = Precision(20, 1 / 3, 2.0**-54).combine(72, 1000 / 3, 1000)
    error = abs(Fraction(float(np.add.accumulate(values)[-1])) - sum(map(Fraction, values)))
    assert 0 < error <= bound.slop


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_gap_is_rounded_up_and_by_no_more_than_one_step(a: float, b: float) -> None:
    low, high = np.array(min(a, b)), np.array(max(a, b))
    exact, found = Fraction(float(high)) - Fraction(float(low)), float(gap(low, high))
    assert exact <= Fraction(found)
    assert found == 0 or Fraction(float(np.nextafter(found, -1))) < exact


def test_the_caller_is_named_by_file_and_line() -> None:
    assert caller().startswith("test_trace.py:")
