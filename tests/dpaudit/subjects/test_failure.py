"""What is said of a subject that raises: never the message where it may quote somebody's data, always the user's own line."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.subjects.failure import OWN_DATA, explain_failure, full_traceback, line_of, makes_up_data
from dpaudit.subjects.subject import Subject

MADE_UP = dp.replace_one(n=3, low=0, high=1)
SECRET = 0.123456789


def quoting(neighbours: Any) -> Subject:
    @dp.subject(claim=dp.Claim("1"), neighbours=neighbours)
    def quotes(data: Any, channel: Any) -> Any:
        raise ValueError(f"cannot use {SECRET}")

    return quotes


def failure_of(subject: Subject) -> BaseException:
    with pytest.raises(BaseException) as failed:  # noqa: PT011 - whichever it is
        dp.audit(subject, seed=1)
    return failed.value


def here(function: Any, offset: int) -> str:
    return f"{os.path.relpath(__file__)}:{inspect.getsourcelines(function)[1] + offset}"


def test_the_message_on_made_up_data_is_shown_with_the_user_s_line() -> None:
    subject = quoting(MADE_UP)
    told = explain_failure(subject, failure_of(subject))
    assert told == f"quotes raised ValueError at {here(subject.function, 2)}: cannot use {SECRET}"


@pytest.mark.parametrize(
    "neighbours",
    [[(np.ones(3), np.zeros(3))], st.just((np.ones(3), np.zeros(3)))],
    ids=["pairs", "strategy"],
)
def test_on_data_of_the_user_s_own_only_the_type_and_the_line_are_shown(neighbours: Any) -> None:
    subject = quoting(neighbours)
    error = failure_of(subject)
    told = explain_failure(subject, error)
    assert not makes_up_data(subject)
    assert told.startswith(f"quotes raised ValueError at {here(subject.function, 2)}; ")
    assert str(SECRET) not in told + full_traceback(subject, error)
    assert full_traceback(subject, error) == OWN_DATA
    assert str(SECRET) in full_traceback(quoting(MADE_UP), error)  # the twin: it would have been there


def test_the_line_is_the_user_s_and_not_that_of_the_library_which_raised() -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=MADE_UP)
    def parses(data: Any, channel: Any) -> Any:
        return json.loads("{")

    error = failure_of(parses)
    assert line_of(error, parses) == here(parses.function, 2)
    assert isinstance(error, json.JSONDecodeError)


def test_what_the_door_refuses_names_the_line_that_asked() -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=MADE_UP)
    def asks(data: Any, channel: Any) -> Any:
        return channel.release("x", data.sum(), dp.Laplace(scale=1), sensitivity=-1)

    error = failure_of(asks)
    assert isinstance(error, dp.DpauditError)
    assert explain_failure(asks, error) == f"{error} ({here(asks.function, 2)})"


def test_an_error_that_no_code_of_the_user_s_raised_has_no_line() -> None:
    subject = quoting(MADE_UP)
    assert line_of(ValueError("nobody"), subject) is None
    assert explain_failure(subject, ValueError()) == "quotes raised ValueError when it was run"


def test_a_long_message_is_cut() -> None:
    assert len(explain_failure(quoting(MADE_UP), ValueError("x" * 10_000))) < 300
