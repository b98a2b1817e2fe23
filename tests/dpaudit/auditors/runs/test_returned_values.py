"""What subjects return, as numbers and marks that keep every difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs.returned_values import as_row, as_rows, row_marks


@pytest.mark.parametrize("pair", [(0.0, -0.0), (2**53, 2**53 + 1), (-(2**63), -(2**63) + 1)])
def test_rows_of_many_trials_keep_signs_and_last_digits(pair: tuple[Any, Any]) -> None:
    found = row_marks((np.ones(4), np.array([pair[0], pair[1], pair[0], pair[1]])), 4)
    assert found is not None
    assert found[0] == found[2] != found[1] == found[3]


@pytest.mark.parametrize("value", [object(), {"a": object()}, 1j, np.array([object()])])
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


def test_dicts_and_sets_are_listed_in_an_order_of_their_own() -> None:
    assert as_row({"b": 2.0, "a": 1.0}).tolist() == as_row({"a": 1.0, "b": 2.0}).tolist() == as_row([1.0, 2.0]).tolist()
    assert as_row({2.0, 1.0}).tolist() == as_row((1.0, 2.0)).tolist()
    assert row_marks((np.arange(3.0), np.arange(3)), 3) is None
