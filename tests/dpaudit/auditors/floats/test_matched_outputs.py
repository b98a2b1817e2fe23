"""Counts at equal coarse values, and the bounds on them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpaudit.auditors.floats.matched_outputs import (
    CELLS,
    FACTOR,
    GROUPS,
    Comparison,
    at_least,
    at_most,
    coarse_cells,
    coarse_edges,
)


def compare(first: np.ndarray, second: np.ndarray, factor: float = 1.0, delta: float = 0.0) -> Comparison:
    training = np.random.default_rng(0).normal(size=(2, 500))
    return Comparison.of(first, second, coarse_edges(training[0], training[1]), factor, delta)


@pytest.mark.parametrize(("count", "n"), [(1, 10), (7, 10), (10, 10), (3, 5000), (4000, 5000)])
def test_a_bound_is_where_the_binomial_tail_equals_the_level(count: int, n: int) -> None:
    low = float(at_least(np.array([count]), n, 1e-4)[0])
    assert stats.binom.sf(count - 1, n, low) == pytest.approx(1e-4, rel=1e-6)
    high = float(at_most(np.array([n - count]), n, 1e-4)[0])
    assert stats.binom.cdf(n - count, n, high) == pytest.approx(1e-4, rel=1e-6)


def test_bounds_at_the_ends_are_the_trivial_ones() -> None:
    assert at_least(np.array([0]), 10, 0.01)[0] == 0
    assert at_most(np.array([10]), 10, 0.01)[0] == 1
    assert at_most(np.array([0]), np.array([0]), 0.01)[0] == 1


def test_groups_are_the_whole_its_halves_and_its_quarters() -> None:
    assert GROUPS.shape == (7, CELLS)
    assert (GROUPS.sum(axis=0) == 3).all()


def test_matching_keeps_the_earliest_runs_of_each_side_and_drops_what_is_not_finite() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, 3000), rng.normal(1, 1, 2000)
    first[::7], second[::5] = np.nan, np.inf
    pair = compare(first, second)
    keep, other_keep = pair.matched()
    assert not keep[::7].any()
    assert not other_keep[::5].any()
    for cell in range(CELLS):
        mine, theirs = pair.cells == cell, pair.other_cells == cell
        fewest = min(mine.sum(), theirs.sum())
        assert keep[mine].sum() == other_keep[theirs].sum() == fewest
        assert keep[mine][:fewest].all()


def test_cells_hold_equal_shares_of_the_training_outputs() -> None:
    sides = np.random.default_rng(2).normal(size=(2, 8000))
    counts = np.bincount(coarse_cells(sides.ravel(), coarse_edges(sides[0], sides[1])))
    assert len(counts) == CELLS
    assert (counts == 1000).all()


def ratios(p: float, q: float, *, factor: float = 1.0, delta: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 20_000))
    events = [rng.random((20_000, 1)) < chance for chance in (p, q)]
    return compare(values[0], values[1], factor, delta).excess(events[0], events[1], 1e-4)


def test_an_event_counts_only_beyond_both_factors_and_delta() -> None:
    assert ratios(0.4, 0.01)[0, 0] > FACTOR
    assert not ratios(0.4, 0.06).any()  # 6.7 times: within the factor of a cell
    assert not ratios(0.4, 0.01, factor=50.0).any()  # 40 times: allowed by the claim
    assert not ratios(0.4, 0.01, delta=0.4).any()
    assert not ratios(0.01, 0.4).any()  # the other direction is asked for separately


def test_a_difference_of_coarse_values_alone_is_no_excess() -> None:
    """Positive outputs are 30 times as frequent on one side; at equal values the event says nothing."""
    rng = np.random.default_rng(4)
    first, second = rng.normal(1, 0.5, 20_000), rng.normal(-1, 0.5, 20_000)
    pair = compare(first, second)
    assert not pair.excess(first[:, None] > 0, second[:, None] > 0, 1e-4)[0].any()
    assert pair.excess(np.ones((20_000, 1), bool), np.zeros((20_000, 1), bool), 1e-4)[0].all()
