"""Chunks: the same results with any number of processes, errors as they are, nothing left running."""

from __future__ import annotations

import itertools
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs import engine as engine_module
from dpaudit.auditors.runs.engine import Engine, split
from dpaudit.auditors.runs.transcripts import Trials

ONE, ZERO = np.ones(1), np.zeros(1)


@dataclass(frozen=True)
class Numbers:
    """A task for these tests."""

    same: bool = True
    wrong: int = -1

    def repeatable(self) -> bool:
        return self.same


def who(task: Numbers, number: int, size: int) -> tuple[int, int, int]:
    time.sleep(0.01)
    if number == task.wrong:
        raise dp.DpauditError(f"chunk {number} is wrong")
    return number, size, os.getpid()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started however small the work is."""
    monkeypatch.setattr(engine_module, "MEASURE", 0.0)
    monkeypatch.setattr(engine_module, "WORTH", 0.0)


@pytest.mark.parametrize(("total", "largest"), [(10, 3), (9, 3), (2, 5), (0, 5)])
def test_chunks_hold_all_runs(total: int, largest: int) -> None:
    sizes = split(total, largest)
    assert sum(sizes) == total
    assert all(0 < size <= largest for size in sizes)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_their_order_from_as_many_processes(workers: int) -> None:
    results = list(Engine(workers).map(who, Numbers(), [1] * 12))
    assert [number for number, _, _ in results] == list(range(12))
    processes = {process for _, _, process in results}
    assert len(processes - {os.getpid()}) <= workers
    assert (processes == {os.getpid()}) is (workers == 1)


def test_small_work_starts_no_process() -> None:
    assert {process for _, _, process in Engine(3).map(who, Numbers(), [1] * 5)} == {os.getpid()}


@pytest.mark.usefixtures("eager")
def test_what_cannot_be_repeated_stays_in_this_process() -> None:
    assert {process for _, _, process in Engine(3).map(who, Numbers(same=False), [1] * 5)} == {os.getpid()}


@pytest.mark.usefixtures("eager")
def test_an_error_in_a_worker_is_raised_as_it_is() -> None:
    with pytest.raises(dp.DpauditError, match="chunk 6 is wrong"):
        list(Engine(2).map(who, Numbers(wrong=6), [1] * 12))


def dies(task: Numbers, number: int, size: int) -> int:
    if number > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


@pytest.mark.usefixtures("eager")
def test_a_worker_that_is_killed_is_reported() -> None:
    with pytest.raises(dp.DpauditError, match="a worker process died"):
        list(Engine(2).map(dies, Numbers(), [1] * 6))


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.usefixtures("eager")
def test_who_stops_reading_leaves_no_worker_behind() -> None:
    results = Engine(2).map(who, Numbers(), [1] * 1000)
    seen = {process for _, _, process in itertools.islice(results, 20)} - {os.getpid()}
    assert seen
    results.close()
    for _ in range(100):
        if not any(alive(process) for process in seen):
            break
        time.sleep(0.05)
    assert not any(alive(process) for process in seen)


def declare(function: Any) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=[(ONE, ZERO)])(function)


def black(data: Any, rng: Any, trials: Any) -> Any:
    return data.sum() + rng.laplace(scale=0.5, size=trials)


def grey(data: Any, channel: Any) -> Any:
    return channel.release("v", data.sum(), dp.Laplace(1), sensitivity=1, to="server") > 0


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("sequential", [True, False])
@pytest.mark.parametrize(("function", "samples", "observer"), [(black, 50_000, "server"), (grey, 1500, "actions")])
def test_an_audit_is_the_same_with_one_two_and_three_workers(
    function: Any, samples: int, observer: str, sequential: bool
) -> None:
    options: dict[str, Any] = {"seed": 3, "samples": samples, "observer": observer, "epsilon": "1.2", "sequential": sequential}
    first, *others = ({**dp.audit(declare(function), workers=n, **options).to_dict(), "seconds": 0} for n in (1, 2, 3))
    assert all(other == first for other in others)
    assert first["lower"]["epsilon"] > 0.3


def test_randomness_of_its_own_is_noticed() -> None:
    """A generator that the subject keeps would be copied into every worker, and all would draw the same."""
    own = np.random.default_rng(1)
    assert Trials(declare(black), (ONE, ZERO), 1, False).repeatable()
    for kept in (lambda data, rng: float(data.sum() + own.laplace()), lambda data, rng: float(np.random.laplace())):  # noqa: NPY002
        assert not Trials(declare(kept), (ONE, ZERO), 1, False).repeatable()
