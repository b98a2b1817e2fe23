"""Dependence: how many grid steps a record can move a release, and whose records they are."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.noise import GRID
from dpaudit.sealed.array import dependence, seal
from dpaudit.sealed.dependence import Dependence, by_record, dependence_of
from dpaudit.sealed.trace import Elements, Intervals, Precision, Private, Spread, Untraced

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


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=8))
def test_entries_of_one_record_are_charged_together(entries: Any) -> None:
    """The independent route: a dictionary from records to the sum of their widths."""
    ids, widths = np.array([i for i, _ in entries]), np.array([w for _, w in entries])
    sums: dict[int, float] = {}
    for record, width in entries:
        sums[record] = sums.get(record, 0.0) + width
    found = dependence_of(Private(np.zeros(len(ids)), Elements(ids, 0 * widths, widths), Precision(20, 3.0), False))
    assert isinstance(found, Dependence)
    assert found.sensitivity(1) == max(sums.values())
    assert set(found.cohort) == set(sums)


def test_a_record_that_moves_few_of_the_coordinates_is_charged_for_the_largest_of_them() -> None:
    moves = np.array([[1.0, 5.0, 2.0, 4.0]])
    for places, l1 in ((1, 5), (2, 9), (4, 12), (None, 12)):
        found = dependence_of(Private(np.zeros(4), Spread(np.arange(3), moves, places), Precision(0, 9.0), False))
        assert isinstance(found, Dependence)
        assert found.steps(Fraction(1), 1) == l1
        assert found.cohort == range(3)


def test_a_value_that_may_be_nan_is_charged_the_way_to_zero() -> None:
    """The door takes NaN for 0."""
    trace = Elements(np.arange(2), np.array(3.0), np.array(4.0), nan=True)
    found = dependence_of(Private(np.zeros(2), trace, Precision(20, 4.0), False))
    assert isinstance(found, Dependence)
    assert found.sensitivity(1) == 4


def test_values_without_bounds_are_not_proven() -> None:
    trace = Elements(np.arange(2), np.array(0.0), np.array(np.inf))
    assert isinstance(dependence_of(Private(np.zeros(2), trace, Precision(20, np.inf), False)), Untraced)


def test_public_entries_are_in_no_cohort() -> None:
    trace = Elements(np.array([-2, 7]), np.array([1.0, 0.0]), np.array([1.0, 2.0]))
    found = dependence_of(Private(np.zeros(2), trace, Precision(20, 2.0), False))
    assert isinstance(found, Dependence)
    assert set(found.cohort) == {7}


def test_a_table_of_moves_that_would_grow_too_large_is_none() -> None:
    ids = np.concatenate([np.zeros(10_000, int), np.arange(10_000)])
    assert by_record(ids, np.ones(len(ids))) is None


GROUPS = np.arange(4)


@pytest.mark.parametrize(
    ("scores", "removal", "largest", "gap"),
    [
        (lambda x: (x[:, None] == GROUPS).sum(axis=0), True, 1, 1),  # it leaves one group
        (lambda x: (x[:, None] == GROUPS).sum(axis=0), False, 1, 2),  # it leaves one and joins another
        (lambda x: (x[:, None] <= GROUPS).sum(axis=0), True, 1, 1),  # it leaves several, all the same way
        (lambda x: (x[:, None] <= GROUPS).sum(axis=0), False, 1, 2),
        (lambda x: (x[:, None] <= GROUPS).sum(axis=0)[1:], True, 1, 1),
        (lambda x: np.stack([(x <= 1).sum(), (x > 1).sum()]), True, 1, 1),
        (lambda x: np.stack([(x <= 1).sum(), -(x <= 2).sum()]), True, 1, 2),  # one falls, the other rises
        (lambda x: np.stack([(x <= 1).sum(), 5 - (x <= 2).sum()]), True, 1, 2),
        (lambda x: abs((x[:, None] <= GROUPS).sum(axis=0) - 2), True, 1, 2),
        (lambda x: (x[:, None] <= GROUPS).sum(axis=0) * np.array([1, -1, 1, -1]), True, 1, 2),
        (lambda x: (x[:, None] - 1 <= GROUPS).sum(axis=0) - (x[:, None] <= GROUPS).sum(axis=0), True, 2, 4),
        (lambda x: np.stack([x.sum(), (3 - x).sum()]), False, 3, 6),
    ],
)
def test_differences_of_coordinates_move_by_two_moves_unless_all_go_one_way(
    scores: Any, removal: bool, largest: int, gap: int
) -> None:
    """Every pair of neighbours of a small data set keeps to what is derived of it."""
    found = dependence(scores(seal(np.array([0.0, 1.0, 2.0, 3.0]), 0, 3, removal=removal)))
    assert isinstance(found, Dependence)
    assert found.steps(GRID, -1) * GRID == largest
    assert found.gap_steps(GRID) * GRID == gap
    assert found.sensitivity(-1) == largest
    values = range(4)
    for rest in product(values, repeat=2):
        one = scores(np.array([*rest, 0.0]))
        others = [scores(np.array(rest, dtype=float))] if removal else [scores(np.array([*rest, v])) for v in values]
        for other in others:
            move = one - other
            assert np.abs(move).max() <= largest
            assert np.ptp(move) <= gap
