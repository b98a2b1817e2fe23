"""Relations: the pairs they give are neighbours, and what they seal is sealed for that relation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.claims import InvalidValue, Leak
from dpaudit.neighbours.relations import as_neighbours

rng = np.random.default_rng


@given(st.integers(1, 30), st.floats(-5, 0), st.floats(0.5, 5), st.integers(0, 99))
@settings(deadline=None)
def test_replace_one_gives_pairs_that_differ_in_one_record_within_the_bounds(n: int, low: float, high: float, seed: int) -> None:
    pairs = dp.replace_one(n, low, high).pairs(rng(seed))
    for first, second in pairs:
        assert first.shape == second.shape == (n,)
        assert (first != second).sum() == 1
        assert first.min() >= low
        assert max(first.max(), second.max()) <= high
    widest = max(np.abs(first - second).max() for first, second in pairs)
    assert widest >= (high - low) - 2 / 2**20  # the worst pair is among them, up to the grid


@given(st.integers(1, 30), st.integers(0, 99))
@settings(deadline=None)
def test_add_remove_gives_pairs_of_which_one_lacks_a_record(n: int, seed: int) -> None:
    pairs = dp.add_remove(n, -1, 1).pairs(rng(seed))
    sizes = {(len(first), len(second)) for first, second in pairs}
    assert sizes == {(n, n - 1), (n - 1, n)}
    for pair in pairs:
        longer, shorter = sorted(pair, key=len, reverse=True)
        assert any(np.array_equal(np.delete(longer, i), shorter) for i in range(len(longer)))


def test_data_for_far_replay_differ_from_the_pairs_in_many_records() -> None:
    relation = dp.replace_one(50, -1, 1)
    base = relation.pairs(rng(1))[0][0]
    assert all((other != base).sum() > 10 for other in relation.others(rng(1)))


def test_each_relation_seals_for_itself() -> None:
    fixed, removable = dp.replace_one(3, -1, 1).seal(np.zeros(3)), dp.add_remove(3, -1, 1).seal(np.zeros(3))
    assert len(fixed) == 3
    with pytest.raises(Leak):
        len(removable)


def test_pairs_seal_nothing_since_they_give_no_bounds() -> None:
    assert as_neighbours([(np.zeros(2), np.ones(2))]).seal(np.zeros(2)) is None
    assert as_neighbours(st.tuples(st.just(0), st.just(1))).seal(0) is None


def test_listed_pairs_are_tried_in_both_directions() -> None:
    listed = as_neighbours([("a", "b"), ["c", "d"]])
    assert list(listed.pairs(rng(1))) == [("a", "b"), ("c", "d"), ("b", "a"), ("d", "c")]
    assert as_neighbours(pair for pair in [(1, 2)]).name == "pairs"


def test_a_strategy_gives_the_same_pairs_for_the_same_seed() -> None:
    relation = as_neighbours(st.tuples(st.integers(), st.integers()))
    assert relation.pairs(rng(1)) == relation.pairs(rng(1))
    assert relation.pairs(rng(1)) != relation.pairs(rng(2))
    assert relation.others(rng(1))


def test_a_strategy_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidValue, match="pairs"):
        as_neighbours(st.integers()).pairs(rng(1))


@pytest.mark.parametrize(
    "given_", [[], "ab", b"ab", {}, 7, None, [(1, 2, 3)], [1], dp.replace_one, type(dp.replace_one(1, 0, 1))]
)
def test_what_is_no_relation_is_refused(given_: Any) -> None:
    with pytest.raises(InvalidValue):
        as_neighbours(given_)


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [(0, 0, 1), (-1, 0, 1), (1.5, 0, 1), (True, 0, 1), (1, 1, 1), (1, 1, 0), (1, "nan", 1), (1, 0, float("inf")), (1, False, 1)],
)
def test_sizes_and_bounds_that_are_none_are_refused(n: Any, low: Any, high: Any) -> None:
    for relation in (dp.replace_one, dp.add_remove):
        with pytest.raises(InvalidValue):
            relation(n, low, high)


@pytest.mark.parametrize("bounds", [(-1e300, 1e300), ("1e-9", "2e-9")])
def test_bounds_beyond_the_grid_are_refused_when_data_is_made(bounds: Any) -> None:
    with pytest.raises(InvalidValue, match="low, high"):
        dp.replace_one(2, *bounds).pairs(rng(1))


def test_bounds_are_exact_and_rounded_inward() -> None:
    relation = dp.replace_one(1, "0.1", "1/3")
    assert relation.low >= 0.1
    assert relation.high <= 1 / 3


def test_pairs_of_equal_data_alone_are_refused_since_nothing_is_tested_on_them() -> None:
    for given_ in ([(1.0, 1.0)], [([1.0], [1.0]), (np.ones(2), np.ones(2))], [(None, None)]):
        with pytest.raises(InvalidValue, match="differs"):
            as_neighbours(given_)
    with pytest.raises(InvalidValue, match="differs"):
        as_neighbours(st.just(([1.0], [1.0]))).pairs(np.random.default_rng(1))
    for given_ in ([(1.0, 1.0), (1.0, 2.0)], [(0.0, -0.0)], [(1, True)], [(np.ones(2), np.ones(3))]):
        assert as_neighbours(given_).name == "pairs"
