"""Rows of a sample: plain ones are chosen, sealed ones keep what is known of one record and nothing of its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpaudit.channel.streams.sampled_rows import chosen_rows, count_rows, mark_of, new_mark
from dpaudit.claims import InvalidValue, Leak
from dpaudit.sealed.array import Untraced, dependence, seal, unseal

COINS = np.array([True, False, True, False])
ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0]])


def sealed(**more: Any) -> Any:
    return seal(ROWS, 0, 1, **{"removal": True, **more})


def test_plain_and_sealed_rows_are_the_same() -> None:
    assert np.array_equal(chosen_rows(ROWS, COINS, new_mark()), ROWS[COINS])
    assert np.array_equal(unseal(chosen_rows(sealed(), COINS, new_mark())), ROWS[COINS])
    assert count_rows(ROWS) == count_rows(sealed()) == 4


def test_a_sum_moves_by_what_one_record_adds() -> None:
    found = dependence(chosen_rows(sealed(), COINS, new_mark()).sum(axis=0))
    assert not isinstance(found, Untraced)
    assert (found.sensitivity(1), found.cohort) == (2.0, None)


def test_marks_differ_and_stay_with_what_is_computed() -> None:
    one, other = new_mark(), new_mark()
    assert len({one, other, True, False}) == 4  # none is the removal of a record from all of the data
    assert mark_of(chosen_rows(sealed(), COINS, one).sum()) == one
    assert mark_of(sealed()) is None
    assert mark_of(ROWS) is None


def test_two_samples_and_all_records_do_not_combine() -> None:
    first, second = (chosen_rows(sealed(), COINS, new_mark()).sum() for _ in range(2))
    for mixed in (first + second, first + sealed().sum()):
        assert isinstance(dependence(mixed), Untraced)
    assert not isinstance(dependence(first + first), Untraced)


def test_what_is_not_one_row_per_removable_record_has_no_trace() -> None:
    rows = chosen_rows(seal(ROWS, 0, 1), COINS, new_mark())
    with pytest.raises(Leak):
        len(rows)
    assert isinstance(dependence(rows.sum()), Untraced)


def test_a_number_has_no_rows() -> None:
    with pytest.raises(InvalidValue):
        count_rows(3.0)
