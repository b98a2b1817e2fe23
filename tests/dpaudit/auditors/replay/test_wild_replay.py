"""Wild replay finds what rare outputs lead to, is bounded by counted work, and has nothing to say of legal adaptivity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.replay.wild_replay import RUN, SEALED_TEXT, WildDoor, Work, wild_replay
from dpaudit.channel import Channel

TEN = dp.replace_one(n=10, low=0, high=1)
PAIRS = TEN.pairs(np.random.default_rng(1))


def declare(function: Any, neighbours: Any = TEN) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=neighbours)(function)


def noisy(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)


def outputs(scheme: int, count: int, shape: tuple[int, ...] = ()) -> np.ndarray:
    drawn = []
    for seed in range(count):
        channel = Channel(WildDoor(seed, None, True, scheme=scheme))
        drawn.append(channel.release("v", np.zeros(shape)[()], dp.Laplace(scale=1), sensitivity=1))
    return np.array(drawn)


@pytest.mark.parametrize("scheme", [0, 1, 2])
def test_outputs_have_every_size_and_sign_and_are_zero_at_times(scheme: int) -> None:
    """300 outputs: each decade of each sign has probability above 1/20, so that it is missed with at most e^-15."""
    drawn = outputs(scheme, 300)
    assert (drawn == 0).any()
    for decade in range(-2, 4):
        inside = (np.abs(drawn) >= 10.0**decade) & (np.abs(drawn) < 10.0 ** (decade + 1))
        assert (drawn[inside] > 0).any()
        assert (drawn[inside] < 0).any()
    assert np.abs(drawn).max() <= 10**4


def test_coordinates_agree_or_differ_as_the_scheme_says() -> None:
    assert all(len(set(row)) <= 5 for row in outputs(0, 20, (5,)))
    assert max(len(set(row)) for row in outputs(2, 20, (5,))) == 5


@pytest.mark.parametrize("threshold", [100, -100, 5000, 30])
def test_raw_data_on_a_rare_path_is_found(threshold: float) -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        total = noisy(data, channel)
        return (total, data[3]) if total / threshold > 1 else total

    found = wild_replay(declare(mechanism), PAIRS, 1)
    assert found is not None
    assert found.rule == "DPA002"


def test_a_leak_that_the_subject_catches_is_found() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        total = noisy(data, channel)
        try:
            return float(data.sum()) if total > 300 else total
        except Exception:
            return 0.0

    assert wild_replay(declare(mechanism), PAIRS, 1) is not None


def test_text_that_would_hold_private_data_is_found_on_a_rare_path() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        total = noisy(data, channel)
        if total > 300:
            print(data.sum())
        return total

    found = wild_replay(declare(mechanism), PAIRS, 1)
    assert found is not None
    assert "text" in found.message
    assert repr(TEN.seal(np.zeros(10))) == SEALED_TEXT


def test_honest_subjects_pass_also_those_that_adapt_or_fail_on_strange_outputs() -> None:
    def adaptive(data: Any, channel: Any) -> Any:
        total = noisy(data, channel)
        return [noisy(data, channel) for _ in range(3)] if total > 100 else total

    def fails(data: Any, channel: Any) -> Any:
        return [1, 2][int(abs(noisy(data, channel)))]

    for function in (noisy, adaptive, fails):
        assert wild_replay(declare(function), PAIRS, 1) is None


def test_answers_of_randomised_response_are_bits() -> None:
    def bit(data: Any, channel: Any) -> Any:
        answer = channel.release("bit", data[0] > 0.5, dp.RandomizedResponse("1"), sensitivity=1)
        return data if answer not in (0, 1) else answer

    assert wild_replay(declare(bit), PAIRS, 1) is None


def test_work_is_counted_and_ends_the_runs_even_of_a_subject_that_would_not_end() -> None:
    runs = []

    def endless(data: Any, channel: Any) -> Any:
        runs.append(1)
        while True:
            noisy(data, channel)

    assert wild_replay(declare(endless), PAIRS, 1, Work(10 * RUN)) is None
    assert len(runs) == 1


def test_large_data_is_run_less_often() -> None:
    def counted(size: int) -> int:
        runs = []
        neighbours = dp.replace_one(n=size, low=0, high=1)

        def mechanism(data: Any, channel: Any) -> Any:
            runs.append(1)
            return noisy(data, channel)

        wild_replay(declare(mechanism, neighbours), neighbours.pairs(np.random.default_rng(1)), 1)
        return len(runs)

    assert counted(10) == 300
    assert counted(100_000) == 9


def test_data_that_cannot_be_sealed_is_left_to_other_checks() -> None:
    pairs = [(np.zeros(2), np.ones(2))]
    assert wild_replay(declare(lambda data, channel: data.sum(), pairs), pairs, 1) is None
