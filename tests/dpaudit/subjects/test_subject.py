"""Subjects: parameters by name, as pytest fixtures."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.subjects.subject import fresh, make_subject

RELATION = dp.replace_one(n=2, low=0, high=1)
CLAIM = dp.Claim("1")


def declare(function: Any) -> Any:
    return dp.subject(claim=CLAIM, neighbours=RELATION)(function)


def test_parameters_are_recognised_by_name_in_any_order() -> None:
    def mechanism(records: Any, trials: Any, channel: Any) -> Any:
        return records, trials, channel

    found = declare(mechanism)
    assert (found.grey, found.vectorised, found.name) == (True, True, "mechanism")
    with dp.simulate(1, trials=3) as channel:
        assert found.run("data", channel) == ("data", 3, channel)


def test_rng_makes_a_black_box_and_beside_a_channel_it_is_the_channels() -> None:
    black = declare(lambda data, rng: rng.random())
    assert not black.grey
    assert black.run_black(None, np.random.default_rng(1), None) == np.random.default_rng(1).random()
    grey = declare(lambda data, channel, rng: rng)
    with dp.simulate(1) as channel:
        assert grey.run(None, channel) is channel.rng
        assert channel.used_rng


def test_a_black_box_over_many_trials_is_told_their_number() -> None:
    found = declare(lambda data, rng, trials: rng.random(trials))
    assert found.run_black(None, np.random.default_rng(1), 7).shape == (7,)


def test_other_parameters_with_defaults_are_left_alone() -> None:
    found = declare(lambda data, channel, scale=2: scale)
    with dp.simulate(1) as channel:
        assert found.run(None, channel) == 2


def test_a_subject_may_be_a_method_a_partial_or_any_callable() -> None:
    class Mechanism:
        def __call__(self, data: Any, channel: Any) -> Any:
            return data

        def method(self, data: Any, channel: Any) -> Any:
            return data

    def with_scale(data: Any, scale: Any, channel: Any) -> Any:
        return scale

    for function in (Mechanism(), Mechanism().method, functools.partial(with_scale, scale=3)):
        assert declare(function).grey


@pytest.mark.parametrize(
    "function", [lambda: 0, lambda data: 0, lambda channel: 0, lambda data, chanel: 0, lambda data, channel, more: 0, 7, "text"]
)
def test_functions_with_other_parameters_are_refused(function: Any) -> None:
    with pytest.raises(InvalidValue):
        declare(function)


@pytest.mark.parametrize("claim", [1, "1", None, ("1", "0")])
def test_a_claim_is_a_claim(claim: Any) -> None:
    with pytest.raises(InvalidValue, match="claim"):
        dp.subject(claim=claim, neighbours=RELATION)


def test_bad_neighbours_are_refused_when_they_are_declared() -> None:
    with pytest.raises(InvalidValue, match="neighbours"):
        dp.subject(claim=CLAIM, neighbours=[])(lambda data, channel: 0)


def test_a_subject_can_be_given_another_name_and_is_still_callable() -> None:
    found = make_subject(lambda data, channel: data + 1, CLAIM, RELATION, "named")
    assert found.name == "named"
    assert found(1, None) == 2


def _honest(data: Any, rng: Any) -> Any:
    """1-DP, and writes its answer into its argument."""
    data[0] = data[0] + rng.laplace()
    return data[0]


def _emptied(data: Any, rng: Any) -> Any:
    """No noise at all; its data are gone after the first run."""
    return data.pop(0)


@pytest.mark.parametrize(
    "make", [lambda x: [x], lambda x: {0: x}, lambda x: np.array([x]), lambda x: np.array([x], dtype=object)]
)
def test_a_subject_that_writes_into_its_data_does_not_change_the_next_run(make: Any) -> None:
    """Refuted with probability 10^-6 at most if every run has its own copy; the twin leaks and is refuted."""
    neighbours = [(make(0.0), make(1.0))]
    found = dp.audit(dp.subject(claim=CLAIM, neighbours=neighbours)(_honest), samples=500, seed=1, arithmetic="ideal")
    assert str(found.verdict) == "unproven"
    assert neighbours[0][0][0] == 0.0
    if hasattr(neighbours[0][0], "pop"):
        found = dp.audit(dp.subject(claim=CLAIM, neighbours=neighbours)(_emptied), samples=500, seed=1)
        assert str(found.verdict) == "refuted"


def test_data_that_cannot_be_copied_is_refused_unless_it_says_that_it_is_its_own_copy() -> None:
    class Shared:
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise TypeError("no copies")

    class Safe(Shared):
        def __deepcopy__(self, memo: Any) -> Any:
            return self

    with pytest.raises(dp.DpauditError, match="deepcopy fails for Shared"):
        fresh(Shared())
    safe = Safe()
    assert fresh(safe) is safe
