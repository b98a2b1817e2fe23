"""Sensitivity tested by search: pairs that the relation's own list does not hold, found from a seed.

The search is deterministic: a seed gives the same pairs each time. Each planted sensitivity that is too small must be found, and
the twin that declares the true one must not be accused.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.pairs.sensitivity_search import pairs_of, search_sensitivity
from dpaudit.auditors.replay.pinned_runs import Observed, play
from dpaudit.subjects import Subject

N = 12
Query = Callable[[Any], Any]


def make(query: Query, sensitivity: Any, neighbours: Any) -> Subject:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=neighbours)
    def subject(records: Any, channel: Any) -> Any:
        return channel.release("query", query(records), dp.Laplace(sensitivity), sensitivity=sensitivity)

    return subject


def product_of_halves(records: Any) -> Any:
    """Moves most when the half that does not change lies at one end."""
    return records[: N // 2].sum() * records[N // 2 :].sum()


def needle(records: Any) -> Any:
    """Moves most when the third record enters or leaves the middle of its range while another lies at the upper end."""
    return np.where((records[2] > -0.25) & (records[2] < 0.25), np.sort(records)[-1] * 3, 0.0)


def second_smallest(records: Any) -> Any:
    return np.sort(np.append(records, [1.0, 1.0]))[1]


def ranks(records: Any) -> Any:
    return np.sort(records) * np.array([1.0, -1.0] * (N // 2))


CASES: dict[str, tuple[Query, Fraction, Any]] = {  # query, true sensitivity, neighbours
    "product of halves": (product_of_halves, Fraction(N), dp.replace_one(N, -1, 1)),
    "needle": (needle, Fraction(3), dp.replace_one(N, -1, 1)),
    "ranks": (ranks, Fraction(2), dp.replace_one(N, -1, 1)),
    "second smallest": (second_smallest, Fraction(2), dp.add_remove(N, -1, 1)),
    "strategy": (
        lambda x: float(x[0]) * float(x[1]),
        Fraction(150),
        st.tuples(st.integers(-5, 10), st.integers(-5, 10)).map(lambda v: (np.array([v[0], 10.0]), np.array([v[1], 10.0]))),
    ),
}


def searched(subject: Subject, seed: int = 1) -> Observed:
    observed = Observed()
    assert search_sensitivity(subject, seed, observed) == []
    return observed


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_search_comes_close_to_the_true_sensitivity_and_never_above(case: tuple[Query, Fraction, Any]) -> None:
    query, true, neighbours = case
    found = searched(make(query, 1, neighbours)).largest["query"].observed
    assert true * Fraction(9, 10) <= found <= true


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_declared_sensitivity_that_is_too_small_is_found_and_the_true_one_is_not_accused(
    case: tuple[Query, Fraction, Any],
) -> None:
    query, true, neighbours = case
    small = searched(make(query, true * Fraction(4, 5), neighbours))
    assert small.excess
    assert [finding.rule for finding in small.findings] == ["DPA003"]
    assert not searched(make(query, true, neighbours)).excess


def test_the_pair_that_is_shown_attains_what_is_said_and_is_simple() -> None:
    subject = make(product_of_halves, 3, dp.replace_one(N, -1, 1))
    observed = searched(subject)
    move = observed.largest["query"]
    again = Observed()
    again.look(play(subject, *move.pair, 1, None), *move.pair)
    assert again.largest["query"].observed >= move.observed
    assert isinstance(subject.neighbours.related(*move.pair), bool)
    assert int((move.pair[0] != 0).sum()) <= N // 2 + 1  # the half that changes is 0 but for its one record


def test_the_same_seed_sees_the_same_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subject = make(needle, 1, dp.replace_one(N, -1, 1))
    one, other = searched(subject, 7).largest["query"], searched(subject, 7).largest["query"]
    assert one.observed == other.observed
    assert all(np.array_equal(a, b) for a, b in zip(one.pair, other.pair, strict=True))
    assert not list(tmp_path.iterdir())


RELATIONS = [dp.replace_one(1, 0, 1), dp.replace_one(9, -3, "0.7"), dp.add_remove(1, 0, 1), dp.add_remove(5, -1, 1)]


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_every_pair_that_is_drawn_is_a_pair_of_neighbours(relation: Any, data: Any) -> None:
    one, other = data.draw(pairs_of(relation))
    assert relation.related(one, other)
    assert np.array_equal(one * 2**20, np.round(one * 2**20))


def test_a_path_that_only_rare_neighbours_change_is_dpa002() -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(N, -1, 1))
    def subject(records: Any, channel: Any) -> Any:
        name = "much" if product_of_halves(records) > N * N / 5 else "little"
        return channel.release(name, np.median(records), dp.Laplace(2), sensitivity=2)

    found = search_sensitivity(subject, 1, Observed())
    assert [finding.rule for finding in found] == ["DPA002"]


# What the verdict says about it.


def test_a_lost_trace_is_tested_and_its_place_named() -> None:
    verdict = dp.audit(make(lambda x: np.median(x), 2, dp.replace_one(5, -1, 1)), seed=1, samples=1000)
    assert (verdict.verdict, verdict.upper.sensitivity) == ("unproven", "tested")
    assert "numpy.median" in verdict.reason
    assert Path(__file__).name in verdict.reason
    assert not verdict.findings


def test_every_place_where_a_trace_was_lost_is_named() -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(5, -1, 1))
    def subject(records: Any, channel: Any) -> Any:
        one = channel.release("one", np.median(records), dp.Laplace(4), sensitivity=2)
        return one, channel.release("two", np.sort(records)[0], dp.Laplace(4), sensitivity=2)

    reason = dp.audit(subject, seed=1, samples=1000).reason
    assert "'one' lost its trace in numpy.median" in reason
    assert "'two' lost its trace in numpy.sort" in reason


def test_a_search_raises_the_upper_bound_by_what_it_saw() -> None:
    """The relation's own pairs keep the other half in the middle or at random; the search does not."""
    verdict = dp.audit(make(product_of_halves, 6, dp.replace_one(N, -1, 1)), seed=1, samples=1000)
    assert verdict.verdict == "refuted"
    assert verdict.upper.epsilon == 2
    assert [f.rule for f in verdict.findings if "declares sensitivity 6; observed 12" in f.message] == ["DPA003"]


def test_a_sealed_trace_is_proven_and_a_listed_pair_tested() -> None:
    proven = dp.audit(make(lambda x: x.sum(), 2, dp.replace_one(5, -1, 1)), seed=1, samples=1000)
    listed = dp.audit(make(lambda x: x.sum(), 1, [(np.zeros(3), np.array([1.0, 0, 0]))]), seed=1, samples=1000)
    assert (proven.upper.sensitivity, listed.upper.sensitivity) == ("proven", "tested")
    assert "no bounds" in listed.reason


def test_a_shuffled_batch_that_no_trace_proves_stays_declared() -> None:
    """Replay cannot compare what a shuffler mixes, so that no search is possible."""

    @dp.subject(claim=dp.Claim(epsilon="1", observer="shuffled"), neighbours=dp.replace_one(5, -1, 1))
    def subject(records: Any, channel: Any) -> Any:
        return channel.reports("batch", np.sort(records), dp.Laplace(2), sensitivity=2, to="shuffled").sum()

    verdict = dp.audit(subject, seed=1, samples=1000)
    assert (verdict.verdict, verdict.upper.sensitivity) == ("unproven", "declared")


def test_a_sensitivity_below_the_proven_one_is_shown_with_a_pair() -> None:
    verdict = dp.audit(make(lambda x: (x**2).sum(), "1/2", dp.replace_one(5, -1, 1)), seed=1, samples=1000)
    (finding,) = [f for f in verdict.findings if f.rule == "DPA003"]
    assert verdict.upper.sensitivity == "proven"
    assert "but one record can move it by 1; seen on [" in finding.message
