"""What subjects return, as numbers and marks that keep every difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs.returned_values import as_row, as_rows, marks, row_marks

ONE = dp.replace_one(n=1, low=0, high=1)
DISTINCT: list[Any] = [
    0, 1, 2.5, "a", "b", "", b"c", None, (1, 2), (2, 1), (1, "a"), (1, None), ("a", 1), (), np.arange(3), np.arange(4),
    np.zeros((2, 2)), [1, [2, "x"]], [1, [3, "x"]], True, float("nan"), float("inf"), np.array(["u", "v"]),
    0.0, -0.0, 2**53, 2**53 + 1, 2**70, 2**70 + 1, 10**400, b"a", np.zeros((2, 3)), np.zeros((3, 2)), np.array([0.0, 1.0]),
    (1.0,), np.array([1.0, 0.0]), [1], (1,), ((1, 2), 3.0), (1, (2, 3.0)), [], (0.0, -0.0), (-0.0, 0.0),
    np.array([0.0, -0.0, 0.0]), np.array([0.0, 0.0, -0.0]), np.array([2**62]), np.array([2**62 + 1]),
    (1, [2**53]), (1, [2**53 + 1]),
    "\ud800",
]  # fmt: skip


def test_different_values_give_different_rows_or_marks() -> None:
    shown = [str((marks(value), as_row(value).tolist())) for value in DISTINCT]
    assert len(set(shown)) == len(DISTINCT)


ALIKE = [(1.5, np.float64(1.5)), (3, np.int32(3)), (np.arange(3, dtype=np.int32), np.arange(3)), (True, np.bool_(True))]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_the_same_number_in_another_width_is_the_same(one: Any, other: Any) -> None:
    assert (marks(one), as_row(one).tolist()) == (marks(other), as_row(other).tolist())


def test_what_numbers_tell_has_no_marks_beside_its_type() -> None:
    assert {marks(value) for value in (0.0, 1.5, -2.0)} == {marks(7.25)}
    assert marks(7.25)[1] == marks((1, "a", np.arange(5)))[1] == 0
    assert row_marks((np.arange(3.0), np.arange(3)), 3) is None


@pytest.mark.parametrize("pair", [(0.0, -0.0), (2**53, 2**53 + 1), (-(2**63), -(2**63) + 1)])
def test_rows_of_many_trials_keep_signs_and_last_digits(pair: tuple[Any, Any]) -> None:
    found = row_marks((np.ones(4), np.array([pair[0], pair[1], pair[0], pair[1]])), 4)
    assert found is not None
    assert found[0] == found[2] != found[1] == found[3]


@pytest.mark.parametrize("value", [object(), {"a": 1}, 1j, np.array([object()])])
def test_values_that_no_subject_may_return_are_refused(value: Any) -> None:
    with pytest.raises(dp.DpauditError, match="may return numbers, texts, bytes, None, arrays"):
        as_row(value)


def test_the_type_that_no_subject_may_return_is_named() -> None:
    class Model:
        pass

    with pytest.raises(dp.DpauditError, match="returned Model; it may"):
        as_row((1.0, Model()))


def test_trials_are_the_first_axis_of_everything_that_is_returned() -> None:
    table = as_rows((np.arange(3), np.ones((3, 2, 2)), np.array(["a", "b", "a"])), 3)
    assert table.shape == (3, 6)
    assert table[0, 5] == table[2, 5] != table[1, 5]
    for wrong in (1.0, np.zeros(4), (np.zeros(3), np.zeros(2))):
        with pytest.raises(dp.DpauditError, match="first axis"):
            as_rows(wrong, 3)


LEAKS: list[Any] = [
    (-0.0, 0.0), (2**53, 2**53 + 1), (True, 1), (b"a", "a"), (np.zeros((2, 3)), np.zeros((3, 2))), (None, np.array([0.0, 1.0])),
    ((1.0,), np.array([1.0, 0.0])), ([1], (1,)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), LEAKS)
def test_a_leak_by_type_shape_sign_or_last_digit_is_refuted(one: Any, other: Any) -> None:
    """Its twin returns the one or the other by a coin of its own; error 10^-6."""

    def leak(data: Any, rng: Any) -> Any:
        return one if data[0] > 0.5 else other

    def coin(data: Any, rng: Any) -> Any:
        return one if rng.random() < 0.5 else other

    verdicts = [dp.audit(dp.subject(claim=dp.Claim("1"), neighbours=ONE)(f), samples=200, seed=1) for f in (leak, coin)]
    assert [str(verdict.verdict) for verdict in verdicts] == ["refuted", "unproven"]
