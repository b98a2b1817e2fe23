"""Rows and dicts of several kinds are sealed field by field, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.neighbours.mixed_records import SealedRecords
from dpaudit.sealed.array import dependence, unseal

ROWS = [("a", 30, 0.5), ("b", 40, 1.5), ("b", 70, 0.0)]
DICTS = [{"name": "a", "age": 30}, {"name": "b", "age": 70}]


@pytest.mark.parametrize(
    ("values", "question", "moved"),
    [
        (ROWS, lambda x: sum(age >= 40 for _, age, _ in x), 1),
        (ROWS, lambda x: sum(row[1] for row in x), 40),
        (ROWS, lambda x: sum((name == "b") * weight for name, _, weight in x), 1.5),
        (DICTS, lambda x: sum(one["age"] for one in x), 40),
        (DICTS, lambda x: sum(one["name"] == "b" for one in x), 1),
    ],
)
def test_fields_are_traced(values: list[Any], question: Any, moved: float) -> None:
    relation = dp.replace_one(4, values=values)
    plain = relation.others(np.random.default_rng(1))[0]
    answer = question(relation.seal(plain))
    assert float(unseal(answer)) == float(question(plain))
    assert dependence(answer).sensitivity(1) == moved  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "values", [[None, 1], [("a", None), ("b", 1)], [(1,), (1, 2)], [{"a": 1}, {"b": 1}], [("a", 1), ["a", 2]]]
)
def test_records_without_common_fields_are_not_sealed(values: list[Any]) -> None:
    relation = dp.replace_one(4, values=values)
    assert relation.seal(relation.others(np.random.default_rng(1))[0]) is None


def test_the_number_of_sealed_records_is_public_so_none_may_be_missing() -> None:
    relation = dp.add_remove(4, values=ROWS)
    assert relation.seal(relation.others(np.random.default_rng(1))[0]) is None


def test_data_with_other_fields_is_refused_without_a_word_of_it() -> None:
    relation = dp.replace_one(2, values=ROWS)
    assert isinstance(relation.seal([ROWS[0], ROWS[1]]), SealedRecords)
    with pytest.raises(InvalidValue, match="records like those listed: tuple of 3 values") as refused:
        relation.seal([ROWS[0], ("secret", 12)])
    assert "secret" not in str(refused.value)
