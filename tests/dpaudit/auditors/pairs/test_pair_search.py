"""Search among neighbours: it climbs where corners show nothing, and leaves little of a pair that refutes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.pairs.pair_search import ascended, corners, shrunk, site_of

REPLACE, REMOVE = dp.replace_one(n=9, low=-2, high=3), dp.add_remove(n=9, low=1, high=3)


@pytest.mark.parametrize("relation", [REPLACE, REMOVE])
@given(seed=st.integers(0, 1000))
def test_a_site_gives_back_its_pair(relation: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for pair in (*relation.pairs(rng), *corners(relation, rng)):
        assert relation.related(*pair)
        for side, again in zip(pair, site_of(pair).pair(), strict=True):
            assert np.array_equal(side, again)


def test_related_data_differ_in_one_record_and_stay_in_range() -> None:
    zeros, two = np.zeros(9), np.array([0, 1, 1, 0, 0, 0, 0, 0, 0.0])
    for wrong in (
        zeros[:-1],
        two,
        np.full(9, 4.0),
        np.full(9, np.nan),
        zeros.reshape(3, 3),
        [0.0] * 9,
    ):
        assert not REPLACE.related(zeros, wrong)
    assert REPLACE.related(zeros, 3 * np.eye(9)[2])
    full = np.array([1, 2, 3, 1, 2, 3, 1, 2, 3.0])
    for place in range(9):
        assert REMOVE.related(full, np.delete(full, place))
        assert REMOVE.related(np.delete(full, place), full)
    for wrong in (full, full[:-2], np.append(full[1:-1], 1.5), np.append(full, 1.0)):
        assert not REMOVE.related(full, wrong)


def gap_of_medians(pair: Any) -> Fraction:
    return Fraction(abs(float(np.median(pair[0]) - np.median(pair[1])))) if len(pair[1]) else Fraction(0)


def hidden_product(pair: Any) -> Fraction:
    """Only a crowd that is high throughout lets the one record through."""
    return Fraction(abs(float(np.prod(pair[0]) - np.prod(pair[1]))))


@pytest.mark.parametrize(("score", "best"), [(gap_of_medians, 5), (hidden_product, 5 * 3**8)])
def test_ascent_finds_what_the_listed_pairs_do_not_show(score: Any, best: int) -> None:
    rng = np.random.default_rng(1)
    listed = REPLACE.pairs(rng)
    start = max([*listed[:3], *corners(REPLACE, rng)], key=score)
    found = ascended(REPLACE, start, score, rng, 400)
    assert REPLACE.related(*found)
    assert score(found) == best


def test_ascent_ends_with_its_budget() -> None:
    asked = []

    def score(pair: Any) -> Fraction:
        asked.append(pair)
        return Fraction(len(asked))  # always better: it would go on for ever

    ascended(REPLACE, REPLACE.pairs(np.random.default_rng(1))[0], score, np.random.default_rng(1), 50)
    assert len(asked) <= 51


def test_what_is_left_of_a_pair_is_what_the_refutation_needs() -> None:
    """Needs one other record above 2 and a gap of 2 at least: the rest becomes zero, the gap small, the record the first."""

    def refutes(pair: Any) -> bool:
        site = site_of(pair)
        return bool((site.crowd > 2).any()) and abs(site.first - site.second) >= 2

    rng = np.random.default_rng(5)
    crowd = rng.uniform(-2, 3, 9)
    crowd[6] = 2.7
    first, second = crowd.copy(), crowd.copy()
    first[3], second[3] = -2, 3
    assert refutes((first, second))
    small = shrunk(REPLACE, (first, second), refutes, 60)
    site = site_of(small)
    assert refutes(small)
    assert REPLACE.related(*small)
    assert (site.crowd != 0).sum() == 1
    assert site.place == 0
    assert abs(site.first) + abs(site.second) == 2


def test_removal_shrinks_to_the_end_of_a_range_without_zero() -> None:
    full = np.array([3, 2, 1, 3, 2, 1, 3, 2, 3.0])
    small = shrunk(REMOVE, (full[:-1], full), lambda pair: len(pair[1]) == 9, 60)
    assert small[1].tolist() == [1.0] * 9
    assert len(small[0]) == 8
