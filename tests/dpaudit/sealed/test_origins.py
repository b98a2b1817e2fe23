"""Origins: arrays that were computed alike from the same sealed data are known to be equal, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp


def origin(sealed: Any) -> Any:
    return sealed._private.origin


@pytest.fixture
def table() -> Any:
    return dp.seal(np.zeros((4, 2)), -1, 1)


def test_the_same_part_or_function_of_the_same_data_has_one_origin(table: Any) -> None:
    for program in (lambda t: t[:, 0], lambda t: np.abs(t[:, 1]), lambda t: t.sum(axis=1), lambda t: t * np.array([1.0, 2.0])):
        assert origin(program(table)) is origin(program(table))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda t: t[:, 0], lambda t: t[:, 1]),
        (lambda t: t[:2], lambda t: t[1:3]),
        (lambda t: t * 2.0, lambda t: t * 3.0),
        (lambda t: t / 1.0, lambda t: t / -1.0),
        (lambda t: t * np.array([1.0, 2.0]), lambda t: t * np.array([2.0, 1.0])),
        (lambda t: t + 0.0, lambda t: t + -0.0),
        (lambda t: t.sum(axis=0), lambda t: t.sum(axis=1)),
        (lambda t: np.minimum(t, 0), lambda t: np.maximum(t, 0)),
    ],
)
def test_other_parts_and_functions_have_others(table: Any, one: Any, other: Any) -> None:
    assert origin(one(table)) is not origin(other(table))


def test_equal_data_sealed_twice_has_two_origins(table: Any) -> None:
    assert origin(table) is not origin(dp.seal(np.zeros((4, 2)), -1, 1))


def test_new_axes_keep_the_values_and_other_parts_do_not(table: Any) -> None:
    column = table[:, 0]
    assert origin(column[:, None]).values is origin(column).values
    assert origin(column[None]).values is origin(column).values
    assert origin(column[::-1]).values is not origin(column).values
