"""Traces: how many grid steps a record can move a release, and how exactly a value was computed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.traces import Dependence, Intervals, Precision, Private, bits_of, caller, dependence_of

GRIDS = [Fraction(1, 2**20), Fraction(1, 10), Fraction(1), Fraction(3, 7)]
moves = st.lists(st.lists(st.floats(0, 50), min_size=2, max_size=2), min_size=1, max_size=5)


@given(moves, st.sampled_from(GRIDS), st.sampled_from([1, 2]))
def test_steps_are_the_longest_rounded_up_move_in_exact_arithmetic(rows: Any, grid: Fraction, norm: int) -> None:
    """The independent route: every row in fractions, the root by integers."""
    lengths = [sum(math.ceil(Fraction(m) / grid) ** norm for m in row) for row in rows]
    expected = max(lengths) if norm == 1 else math.isqrt(max(lengths) - 1) + 1 if max(lengths) else 0
    assert Dependence(np.array(rows), None, 0.0).steps(grid, norm) == expected


@pytest.mark.parametrize("norm", [1, 2])
def test_rounding_two_values_never_moves_them_further_apart_than_the_steps(norm: int) -> None:
    """Brute force over offsets: floor(x+½) and floor(x+Δ+½) of two coordinates."""
    for gaps in product([0.0, 0.3, 1.0, 1.2, 2.0], repeat=2):
        steps = Dependence(np.array([gaps]), None, 0.0).steps(Fraction(1), norm)
        offsets = np.linspace(0, 1, 21)
        worst = [max(np.floor(offsets + gap + 0.5) - np.floor(offsets + 0.5)) for gap in gaps]
        assert sum(w**norm for w in worst) <= steps**norm


def test_slop_is_charged_on_both_sides_of_a_move_but_not_where_nothing_moves() -> None:
    assert Dependence(np.array([[1.0, 0.0]]), None, 0.25).steps(Fraction(1, 4), 1) == 6
    assert Dependence(np.array([[0.0, 0.0]]), None, 0.25).steps(Fraction(1, 4), 1) == 0


def test_steps_end_at_the_widest_grid() -> None:
    assert Dependence(np.array([[1e300]]), None, 0.0).steps(Fraction(1, 2**20), 1) == 2**53


def test_no_records_move_nothing() -> None:
    assert Dependence(np.zeros((0, 3)), [], 0.0).steps(Fraction(1), 2) == 0
    assert Dependence(np.zeros((0, 3)), [], 0.0).sensitivity(1) == 0


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), min_size=1, max_size=6))
def test_overlapping_intervals_are_charged_at_their_deepest_place(pairs: Any) -> None:
    """The independent route: count, for every record, the intervals that hold it."""
    start = np.array([a for a, _ in pairs])
    stop = np.array([a + length for a, length in pairs])
    deepest = max(int(((start <= record) & (record < stop)).sum()) for record in range(20))
    private = Private(np.zeros(len(pairs)), Intervals(start, stop, 2.0), Precision(20, 100.0), False)
    found = dependence_of(private)
    assert isinstance(found, Dependence)
    assert found.steps(Fraction(1), 1) == 2 * deepest
    assert {record for part in found.cohort for record in part} == {r for a, n in pairs for r in range(a, a + n)}


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


def test_the_caller_is_named_by_file_and_line() -> None:
    assert caller().startswith("test_traces.py:")
