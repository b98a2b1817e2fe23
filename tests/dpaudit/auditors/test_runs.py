"""Runs for the game: what subjects return, as rows of numbers that keep every difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs import as_row, as_rows, child, finite, likelihood_scores, returned_values

ONE = dp.replace_one(n=1, low=0, high=1)


def declare(function: Any) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=ONE)(function)


DISTINCT: list[Any] = [
    0, 1, 2.5, "a", "b", "", b"c", None, (1, 2), (2, 1), (1, "a"), (1, None), ("a", 1), (), np.arange(3), np.arange(4),
    np.zeros((2, 2)), [1, [2, "x"]], [1, [3, "x"]], True, float("nan"), float("inf"), np.array(["u", "v"]),
]  # fmt: skip


def test_different_values_give_different_rows() -> None:
    """Apart from 1 and True, which Python itself calls equal."""
    rows = [tuple(as_row(value)) for value in DISTINCT]
    equal = [(a, b) for a in range(len(rows)) for b in range(a) if str(rows[a]) == str(rows[b])]
    assert [(DISTINCT[a], DISTINCT[b]) for a, b in equal] == [(True, 1)]


@pytest.mark.parametrize("value", [object(), {"a": 1}, 1j, np.array([object()])])
def test_values_that_no_subject_may_return_are_refused(value: Any) -> None:
    with pytest.raises(dp.DpauditError, match="may return"):
        as_row(value)


def test_trials_are_the_first_axis_of_everything_that_is_returned() -> None:
    table = as_rows((np.arange(3), np.ones((3, 2, 2)), np.array(["a", "b", "a"])), 3)
    assert table.shape == (3, 6)
    assert table[0, 5] == table[2, 5] != table[1, 5]
    for wrong in (1.0, np.zeros(4), (np.zeros(3), np.zeros(2))):
        with pytest.raises(dp.DpauditError, match="first axis"):
            as_rows(wrong, 3)


def test_numbers_that_are_not_finite_are_told_apart_by_a_column_of_their_own() -> None:
    table = finite(np.array([[1.0, np.nan], [2.0, np.inf], [3.0, -np.inf], [4.0, 0.0], [5.0, -0.0]]), [1])
    assert np.isfinite(table).all()
    assert table[:, 2].tolist() == [1, 2, 3, 0, 0]
    assert table[3, 1].tobytes() == table[4, 1].tobytes()


def test_rows_of_different_lengths_are_kept_apart() -> None:
    table = returned_values(declare(lambda data, rng: [0.0] * int(rng.integers(0, 3))), np.zeros(1), 200, 1)
    assert len(np.unique(table, axis=0)) == 3


def test_a_constant_column_is_kept_since_the_other_data_set_may_have_another_constant() -> None:
    box = declare(lambda data, rng: (float(data.sum()), float(rng.random())))
    zero, one = (returned_values(box, np.full(1, value), 50, 1) for value in (0.0, 1.0))
    assert any((zero[:, column] != one[:, column]).all() and np.ptp(zero[:, column]) == 0 for column in range(zero.shape[1]))


def test_runs_are_independent_of_each_other_and_of_other_seeds() -> None:
    """Seeds that were counted up would give an audit with the next seed nearly the same runs."""

    def noisy(data: Any, channel: Any) -> Any:
        return channel.release("v", 0.0, dp.Laplace(1), sensitivity=1)

    one, other = (returned_values(declare(noisy), np.zeros(1), 200, seed)[:, 1] for seed in (1, 2))
    assert len(np.unique(np.concatenate([one, other]))) == 400
    assert len({child(1, k) for k in range(1000)} | {child(2, k) for k in range(1000)}) == 2000
    assert child(1, 2) == child(1, 2) >= 0


@pytest.mark.parametrize("many", [True, False])
def test_likelihood_scores_are_the_loss_of_each_run(many: bool) -> None:
    """Lap(1), queries 0 and 1: the loss |o−1| − |o| of a run on 0, whose mean is e^-1; 6 standard errors."""

    def one(data: Any, channel: Any) -> Any:
        return channel.release("v", data.sum(), dp.Laplace(1), sensitivity=1)

    def trials(data: Any, channel: Any, trials: Any) -> Any:
        return one(data, channel)

    count = 60_000 if many else 3000
    scores = likelihood_scores(declare(trials if many else one), np.zeros(1), np.ones(1), count, 4)
    assert scores.shape == (count,)
    assert np.abs(scores).max() <= 1
    assert abs(scores.mean() - np.exp(-1)) < 6 * scores.std() / np.sqrt(count)
