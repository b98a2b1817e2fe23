"""Tables as data: their pairs are neighbours within the bounds of each column, and subjects of them are judged as others are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.subjects import Subject

LOW, HIGH = [-1, 0, 5], [1, 2, "5.5"]


def differing_rows(one: np.ndarray, other: np.ndarray) -> int:
    return int((one != other).any(axis=1).sum())


@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_pairs_differ_in_one_row_and_keep_the_bounds_of_each_column(n: int) -> None:
    for one, other in dp.replace_one(n, LOW, HIGH).pairs(np.random.default_rng(1)):
        assert one.shape == other.shape == (n, 3)
        assert differing_rows(one, other) == 1
        assert (np.minimum(one, other) >= [-1, 0, 5]).all()
        assert (np.maximum(one, other) <= [1, 2, 5.5]).all()


@pytest.mark.parametrize("n", [1, 4])
def test_the_other_of_a_pair_lacks_a_row_where_rows_can_be_removed(n: int) -> None:
    for one, other in dp.add_remove(n, LOW, HIGH).pairs(np.random.default_rng(1)):
        assert any(np.array_equal(np.delete(one, i, axis=0), other) for i in range(n))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(data=st.data())
def test_the_strategy_gives_neighbours(data: Any) -> None:
    one, other = data.draw(dp.replace_one(5, LOW, HIGH).strategy)
    assert differing_rows(one, other) <= 1
    more, less = data.draw(dp.add_remove(5, LOW, HIGH).strategy)
    assert (len(more), len(less)) == (5, 4)


@pytest.mark.parametrize(("low", "high"), [([0, 0], [1]), ([], []), ([0], 1), ([0, 1], [1, 1]), ([0, float("nan")], [1, 1])])
def test_bounds_that_do_not_fit_together_are_refused(low: Any, high: Any) -> None:
    if (low, high) == ([0], 1):  # one column may be written either way
        assert dp.replace_one(2, low, high).high == (1.0,)
        return
    with pytest.raises(InvalidValue):
        dp.replace_one(2, low, high)


def subject(query: Any, sensitivity: Any, neighbours: Any) -> Subject:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=neighbours)
    def table_query(table: Any, channel: Any) -> Any:
        return channel.release("query", query(table), dp.Laplace(sensitivity), sensitivity=sensitivity)

    return table_query


def test_sums_of_columns_are_certified_and_half_their_sensitivity_refuted() -> None:
    relation = dp.replace_one(6, [-1, 0], [1, 2])
    verdict = dp.audit(subject(lambda t: t.sum(axis=0), 4, relation), seed=1, samples=1000)
    assert (verdict.verdict, verdict.upper.epsilon) == ("certified", 1)
    assert dp.audit(subject(lambda t: t.sum(axis=0), 2, relation), seed=1, samples=1000).verdict == "refuted"


def test_a_removable_row_is_certified_by_its_magnitude() -> None:
    relation = dp.add_remove(6, [-1, 0], [1, 2])
    verdict = dp.audit(subject(lambda t: (t[:, 0] * t[:, 1]).sum(), "2.01", relation), seed=1, samples=1000)
    assert verdict.verdict == "certified"


def test_an_untraced_table_is_tested_by_search_and_a_pair_shown() -> None:
    relation = dp.replace_one(9, [-1, 0], [1, 2])
    verdict = dp.audit(subject(lambda t: np.percentile(t, 50, axis=0), 1, relation), seed=1, samples=1000)
    assert verdict.upper.sensitivity == "tested"
    assert [f.rule for f in verdict.findings if "rows of (" in f.message] == ["DPA003"]
    honest = dp.audit(subject(lambda t: np.percentile(t, 50, axis=0), "4.00001", relation), seed=1, samples=1000)
    assert not honest.findings
