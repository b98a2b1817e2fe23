"""Cohorts are sets of records: every operation is compared with Python's own sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort, InvalidRecord, canonical

UNIVERSE = [*range(-3, 20), "a", "b", "c"]
sets = st.sets(st.sampled_from(UNIVERSE))


def members(cohort: Cohort) -> set[Any]:
    return {record for record in UNIVERSE if record in cohort}


@settings(deadline=None)
@given(sets, sets)
def test_set_algebra_agrees_with_python_sets(left: set[Any], right: set[Any]) -> None:
    a, b = Cohort.of(left), Cohort.of(right)
    assert members(a) == left
    assert a.size == len(left)
    assert members(a.union(b)) == left | right
    assert members(a.intersection(b)) == left & right
    assert a.disjoint(b) == left.isdisjoint(right)


@settings(deadline=None)
@given(sets)
def test_one_set_has_one_form_and_json_reads_back(records: set[Any]) -> None:
    cohort = Cohort.of(records)
    assert Cohort.of(list(records)[::-1]) == cohort
    assert Cohort.from_json(cohort.to_json()) == cohort
    assert canonical(Cohort.of(sorted(records, key=str)).to_json()) == canonical(cohort.to_json())


@pytest.mark.parametrize(
    ("given_as", "intervals"),
    [
        (range(2, 6), ((2, 6),)),
        (range(0, 6, 2), ((0, 1), (2, 3), (4, 5))),
        (range(5, 2), ()),
        (range(5, 2, -1), ((3, 6),)),
        (slice(2, 6), ((2, 6),)),
        (7, ((7, 8),)),
        (np.int64(7), ((7, 8),)),
        (np.array([5, 3, 4, 9], dtype=np.uint8), ((3, 6), (9, 10))),
        ([range(0, 3), range(3, 5), 9], ((0, 5), (9, 10))),
        ([], ()),
    ],
)
def test_every_form_of_integers_becomes_sorted_disjoint_intervals(given_as: object, intervals: object) -> None:
    assert Cohort.of(given_as).intervals == intervals


def test_everyone_meets_every_cohort_but_the_empty_one() -> None:
    everyone = Cohort.of(None)
    assert everyone == Cohort.all()
    assert everyone.size is None
    assert not everyone.disjoint(Cohort.of(range(3)))
    assert not everyone.disjoint(everyone)
    assert everyone.disjoint(Cohort.of([]))
    assert everyone.union(Cohort.of("a")).everyone
    assert everyone.intersection(Cohort.of("a")) == Cohort.of("a")
    assert everyone.to_json() is None


def test_a_text_is_one_person_and_not_the_integer_it_spells() -> None:
    assert Cohort.of("alice").ids == {"alice"}
    assert Cohort.of("7").disjoint(Cohort.of(7))


@pytest.mark.parametrize(
    "wrong",
    [
        (1, 5),
        1.5,
        True,
        [1, 2.5],
        [True],
        {"a": 1},
        slice(None, 3),
        np.eye(2),
        np.array([1.0]),
        2**63,
        [2**70],
    ],
)
def test_what_could_be_misread_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidValue, match="cohort"):
        Cohort.of(wrong)


def test_a_refusal_does_not_print_the_records() -> None:
    with pytest.raises(InvalidValue) as refusal:
        Cohort.of(["canary-person", 271828.5])
    assert "canary" not in str(refusal.value)
    assert "271828" not in str(refusal.value)


@pytest.mark.parametrize(
    "wrong",
    [5, "a", [1, 2], [[1]], [[2, 1]], [[1, 2.5]], [[True, 2]], {"ids": [1]}, {"who": []}, [[0, 2**64]]],
)
def test_json_of_another_form_is_refused_with_its_line(wrong: object) -> None:
    with pytest.raises(InvalidRecord, match="line 7: cohort"):
        Cohort.from_json(wrong, line=7)
