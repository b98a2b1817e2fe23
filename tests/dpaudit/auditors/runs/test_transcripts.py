"""Runs for the game: what subjects return, as rows of numbers that keep every difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs.transcripts import Trials, child, finite, likelihood_scores, returned_values

ONE = dp.replace_one(n=1, low=0, high=1)


def declare(function: Any) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=ONE)(function)


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

    one, other = (returned_values(declare(noisy), np.zeros(1), 200, seed) for seed in (1, 2))
    assert len(np.unique(np.concatenate([one, other]), axis=0)) == 400
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


@pytest.mark.parametrize("grey", [True, False])
def test_runs_that_are_calls_come_in_the_order_of_their_coins(grey: bool) -> None:
    """The number of a call is public: it must say nothing about the data set. 200 fair coins; the first 20 calls would all be
    on one data set if the two were run one after the other, and are with probability 2^-19."""
    calls: list[float] = []

    def black(data: Any, rng: Any) -> Any:
        calls.append(data[0])
        return len(calls)

    def by_channel(data: Any, channel: Any) -> Any:
        calls.append(data[0])
        return len(calls)

    subject = declare(by_channel if grey else black)
    subject.weights.known = True  # else its first call is a sealed one, which learns on which grids it releases
    coins, table = Trials(subject, (np.ones(1), np.zeros(1)), 1, False).chunk(0, 200)
    assert calls == coins.astype(float).tolist()
    assert 0 < sum(calls[:20]) < 20
    assert table[:, 2].tolist() == list(range(1, 201))


def test_losses_of_runs_that_are_calls_come_in_the_order_of_their_coins_too() -> None:
    calls: list[float] = []

    def mechanism(data: Any, channel: Any) -> Any:
        calls.append(data[0])
        return float(channel.release("v", data.sum(), dp.Laplace(1), sensitivity=1))  # looked at: each run is a call

    trials = Trials(declare(mechanism), (np.ones(1), np.zeros(1)), 1, True)
    assert trials.fixed is None
    calls.clear()
    coins, _ = trials.chunk(0, 50)
    assert calls[::2] == coins.astype(float).tolist()  # each call is replayed on the other data set
    assert calls[1::2] == (~coins).astype(float).tolist()


@pytest.mark.parametrize("many", [True, False])
def test_an_observer_sees_what_is_released_to_him_and_nobody_else_does(many: bool) -> None:
    def one(data: Any, channel: Any) -> None:
        channel.release("v", data.sum(), dp.Laplace("1e-3"), sensitivity=1, to="actions")

    def trials(data: Any, channel: Any, trials: Any) -> Any:
        one(data, channel)
        channel.at(np.arange(0, trials, 2)).release("w", data.sum(), dp.Laplace("1e-3"), sensitivity=1, to="actions")
        return np.zeros(trials)

    subject = declare(trials if many else one)
    seen, unseen = (
        [returned_values(subject, np.full(1, value), 40, 1, observer) for value in (0.0, 1.0)]
        for observer in ("actions", "others-actions")
    )
    assert any(np.nanmin(seen[1][:, column]) > np.nanmax(seen[0][:, column]) for column in range(seen[0].shape[1]))
    assert np.array_equal(*unseen)


@pytest.mark.parametrize(("secret", "many"), [(False, False), (True, False), (True, True), (False, True)])
def test_the_server_is_shown_what_no_replay_can_pin(secret: bool, many: bool) -> None:
    """What secret coins take part in has no likelihood of its own. Of single runs all is shown, as their paths may differ; of
    many trials all else is in the likelihood of the server's game."""

    def released(data, channel, trials=None):  # type: ignore[no-untyped-def]
        if not secret:
            channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)
            return None if trials is None else np.zeros(trials)
        with channel.sample("0.5") as part:
            part.release("sum", part(data).sum(axis=-1), dp.Laplace(1), sensitivity=1)

    def one_by_one(data, channel):  # type: ignore[no-untyped-def]
        released(data, channel)

    subject = dp.subject(claim=dp.Claim("1"), neighbours=dp.add_remove(n=5, low=0, high=1))(released if many else one_by_one)
    rows = returned_values(subject, np.ones(5), 6, 1)
    assert len(rows) == 6
    assert (len({tuple(row) for row in rows}) == 6) is (secret or not many)


def told_by_name(data: Any, channel: Any) -> Any:
    return channel.release("high" if float(data[0]) > 0.5 else "low", data.sum(), dp.Laplace(1), sensitivity=1)


def told_by_observer(data: Any, channel: Any) -> Any:
    to = "server" if float(data[0]) > 0.5 else "actions"
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1, to=to)


def told_by_zero(data: Any, channel: Any) -> Any:
    channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)
    return -0.0 if float(data[0]) > 0.5 else 0.0


def told_by_width(data: Any, channel: Any) -> Any:
    channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)
    return np.zeros(1, np.float32 if float(data[0]) > 0.5 else np.float64)


def told_to_nobody(data: Any, channel: Any) -> Any:
    float(data[0])
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)


@pytest.mark.parametrize(
    ("function", "refuted"),
    [(told_by_name, True), (told_by_observer, True), (told_by_zero, True), (told_by_width, True), (told_to_nobody, False)],
)
def test_what_tells_the_data_beside_the_values_refutes(function: Any, refuted: bool) -> None:
    """The refuting level is 10^-6, the seed fixed; the twin looks at the data and tells nothing."""
    subject = dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=4, low=0, high=1))(function)
    assert (dp.audit(subject, samples=500, seed=1).verdict == "refuted") is refuted
