"""An error that leaves a deployment shows the subject's own frames, and none that holds the data in plain."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.deployment.shown_frames import hide_own_frames
from dpaudit.ledger import MemoryLedger

CANARY = 771917 / 2**20
DATA = np.full(4, CANARY)
PEOPLE = dp.replace_one(n=4, low=-1, high=1)


def over_budget(data: Any, channel: Any) -> Any:
    return channel.release("x", data.sum(), dp.Laplace(scale="1/2"), sensitivity=2)


def leaks(data: Any, channel: Any) -> Any:
    return float(data.sum())


def leaks_by_numpy(data: Any, channel: Any) -> Any:
    return np.linalg.inv(data)


def breaks(data: Any, channel: Any) -> Any:
    try:
        over_budget(data, channel)
    finally:
        {}["mine"]


def returns_it(data: Any, channel: Any) -> Any:
    return data


Run = Callable[[Any, Any], Any]
CASES: dict[str, tuple[Run, Any]] = {
    "over budget": (over_budget, DATA),
    "a leak": (leaks, DATA),
    "a leak by numpy": (leaks_by_numpy, DATA),
    "an error of its own": (breaks, DATA),
    "returned": (returns_it, DATA),
    "ragged": (over_budget, [CANARY, [CANARY], 1, 2]),
    "texts": (over_budget, [f"{CANARY}?"] * 4),
    "another shape": (over_budget, DATA[:2]),
}


def deployed(run: Run, data: Any) -> BaseException:
    subject = dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PEOPLE)(run)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
        subject.deploy(MemoryLedger("deployment"))(data)
    return caught.value


def held(error: BaseException | None) -> list[str]:
    """Frames, but for this file's, with the canary among their locals; of an error and of those before it."""
    found = []
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename != __file__ and str(CANARY)[:8] in repr(list(frame.f_locals.values())):
                found.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")
        error = error.__cause__ or error.__context__
    return found


@pytest.mark.parametrize("case", CASES)
def test_no_frame_holds_the_data_in_plain(case: str) -> None:
    assert held(deployed(*CASES[case])) == []


def test_the_subject_s_own_line_is_shown() -> None:
    for run in (over_budget, leaks, breaks):
        names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(deployed(run, DATA).__traceback__)]
        assert run.__name__ in names


def test_the_reporter_finds_it_where_nothing_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin."""
    monkeypatch.setattr("dpaudit.deployment.entry_point.hide_own_frames", lambda error: None)
    assert held(deployed(over_budget, DATA))


def test_errors_that_are_each_other_s_context_come_to_an_end() -> None:
    first, second = ValueError(), KeyError()
    first.__context__, second.__context__ = second, first
    hide_own_frames(first)
    assert (first.__context__, second.__context__) == (second, first)
