"""The end of an audit's time: an engine stops between chunks, a black box between runs, and neither loses what is complete."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.time_over import TimeOver, with_time_limit


@dataclass(frozen=True)
class Numbers:
    def repeatable(self) -> bool:
        return True


def work(task: Numbers, number: int, size: int) -> int:
    return number * size


def test_chunks_end_when_the_time_is_over_and_all_of_them_are_no_matter_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    engine = Engine(workers=1, deadline=3.0)
    results = engine.map(work, Numbers(), [10] * 6)
    for number in range(3):
        assert next(results) == 10 * number
        clock += 1
    with pytest.raises(TimeOver):
        next(results)
    assert list(engine.map(work, Numbers(), [10])) == [0]  # late, but there is no other chunk
    assert list(Engine(workers=1).map(work, Numbers(), [10] * 3)) == [0, 10, 20]


def test_a_black_box_is_not_called_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=[([1.0], [0.0])])
    def box(data: Any, rng: Any) -> Any:
        return data[0]

    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    assert with_time_limit(box, 6.0).function([1.0], None) == 1.0
    with pytest.raises(TimeOver):
        with_time_limit(box, 5.0).function([1.0], None)
    assert with_time_limit(box, None) is box
    assert not isinstance(TimeOver(), Exception)  # or what a subject raises for itself would swallow it
