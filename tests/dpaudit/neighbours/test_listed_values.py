"""Records from a list: what a subject is handed, which pairs are tried, and what is proven and refuted about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.pairs.pair_search import for_black_boxes
from dpaudit.auditors.wording import describe
from dpaudit.sealed.array import unseal

RNG = np.random.default_rng


def differing(first: Any, second: Any) -> int:
    return sum(repr(a) != repr(b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("values", "kind", "shape"),
    [
        ([3, 1, 2], "i", (5,)),
        ([True, False], "b", (5,)),
        ([0.5, 1], "f", (5,)),
        ([(1, 2), (3, 4)], "i", (5, 2)),
        ([[0.5, 1], [3, 4]], "f", (5, 2)),
        ([float("nan"), 0.0], "f", (5,)),
    ],
)
def test_numbers_and_rows_of_numbers_are_arrays(values: Any, kind: str, shape: tuple[int, ...]) -> None:
    for pair in dp.replace_one(5, values=values).pairs(RNG(1)):
        for side in pair:
            assert (side.dtype.kind, side.shape) == (kind, shape)
        assert differing(*pair) == 1


@pytest.mark.parametrize("values", [["a", "b"], [("a", 1), ("b", 2)], [{"age": 3}, {"age": 4}], [None, 1], [(1,), (1, 2)]])
def test_anything_else_is_a_list_of_the_records_as_they_are(values: list[Any]) -> None:
    relation = dp.replace_one(5, values=values)
    for pair in relation.pairs(RNG(1)):
        assert all(isinstance(side, list) and len(side) == 5 and all(one in values for one in side) for side in pair)
        assert differing(*pair) == 1


def test_a_neighbour_of_add_remove_lacks_one_record() -> None:
    for first, second in dp.add_remove(5, values=["a", "b"]).pairs(RNG(1)):
        assert len(first) == 5
        assert len(second) == 4
        assert any(first[:place] + first[place + 1 :] == second for place in range(5))


def test_every_change_is_tried_on_a_black_box_and_the_number_of_pairs_is_bounded() -> None:
    letters = [chr(97 + k) for k in range(6)]
    pairs = for_black_boxes(dp.replace_one(4, values=letters), RNG(1))
    changes = {frozenset((a, b)) for pair in pairs for a, b in zip(*pair, strict=True) if a != b}
    assert len(changes) == 15
    many = for_black_boxes(dp.replace_one(4, values=range(10_000)), RNG(1))
    assert len(many) <= 256
    largest = max(int(np.abs(first - second).max()) for first, second in many)
    assert largest == 9999  # the furthest apart come first


@pytest.mark.parametrize(
    ("values", "question"),
    [
        ([0, 1, 2, 3], lambda x: np.bincount(x, minlength=4)),
        ([1, 2, 3], lambda x: np.bincount(x - 1, minlength=3)),
        ([0, 1, 2, 3], lambda x: np.histogram(x, bins=4, range=(0, 4))[0]),
        ([0, 1, 2, 3], lambda x: [(x == k).sum() for k in range(4)]),
        ([0, 1, 2, 3], lambda x: np.array([np.sum(x == k) for k in range(4)])),
        ([True, False], lambda x: np.array([x.sum(), (~x).sum()])),
        ([-2, 1], lambda x: [(x**2 == 4).sum(), (x == 1).sum()]),
    ],
)
def test_counts_of_listed_whole_numbers_are_certified(values: list[Any], question: Any) -> None:
    def counts(data: Any, channel: Any) -> Any:
        return channel.release("counts", question(data), dp.Laplace(scale=2), sensitivity=2)

    found = dp.audit(dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(6, values=values))(counts), samples=100, seed=1)
    assert (found.verdict, [str(finding) for finding in found.findings]) == ("certified", [])


def test_records_outside_the_list_are_brought_into_its_range() -> None:
    relation = dp.replace_one(3, values=[0, 1, 2])
    sealed = relation.seal(np.array([7.0, np.nan, 1.4]))
    assert sealed.dtype == np.int64
    assert unseal(sealed).tolist() == [2, 0, 1]


def counted(scale: str) -> Any:
    def total(data: Any, channel: Any) -> Any:
        return channel.release("total", data.sum(), dp.Laplace(scale=scale), sensitivity=3)

    return total


@pytest.mark.parametrize("relation", [dp.replace_one(20, values=[0, 1, 2, 3]), dp.add_remove(20, values=[0, 1, 2, 3])])
@pytest.mark.parametrize(("scale", "verdict"), [("3", "certified"), ("1.5", "refuted")])
def test_sums_of_listed_integers_are_certified_or_refuted(relation: Any, scale: str, verdict: str) -> None:
    found = dp.audit(dp.subject(claim=dp.Claim("1"), neighbours=relation)(counted(scale)), seed=1)
    assert found.verdict == verdict
    assert found.upper is not None
    assert found.upper.epsilon == (1 if verdict == "certified" else 2)


@pytest.mark.parametrize(("scale", "verdict"), [(0.4, "refuted"), (1.0, "unproven")])
def test_a_black_box_on_texts_is_attacked(scale: float, verdict: str) -> None:
    def letters(data: Any, rng: Any) -> Any:
        return sum(one == "a" for one in data) + rng.laplace(scale=scale)

    neighbours = dp.replace_one(20, values=["a", "b", "c"])
    found = dp.audit(dp.subject(claim=dp.Claim("1"), neighbours=neighbours)(letters), samples=1000, seed=1, workers=1)
    assert found.verdict == verdict


def test_a_listed_nan_reaches_the_subject() -> None:
    seen: list[bool] = []

    def sums(data: Any, rng: Any) -> Any:
        seen.append(bool(np.isnan(data).any()))
        return float(np.nansum(data)) + rng.laplace(scale=5)

    dp.audit(
        dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(4, values=[0.0, 1.0, np.nan]))(sums),
        samples=100,
        seed=1,
        workers=1,
    )
    assert any(seen)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"values": ["a"]}, "two different"),
        ({"values": "ab"}, "a list of the values"),
        ({"values": [1, 1]}, "two different"),
        ({"values": [1, 2], "low": 0, "high": 1}, "left out where values or bounds of columns are given"),
        ({}, "values="),
        ({"low": 0}, "values="),
    ],
)
def test_what_is_no_list_of_values_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(dp.DpauditError, match=told):
        dp.replace_one(5, **given)


def test_long_lists_are_described_by_their_commonest_record() -> None:
    assert describe(["a"] * 19 + ["b"]) == "20 records of 'a', except record 19 = 'b'"
    assert describe(["a", "b"]) == "['a', 'b']"
