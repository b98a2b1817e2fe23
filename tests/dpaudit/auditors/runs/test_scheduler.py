"""Reports and chunks on a real scheduler: the same to the bit, also when a worker is killed; none left is said as that."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.runs import scheduler
from dpaudit.auditors.runs.scheduler import NoScheduler, Scheduled, connected
from dpaudit.channel import long_batches
from dpaudit.cli import main
from dpaudit.noise import UnaryResponse

pytestmark = pytest.mark.slow
N = 60_000


@pytest.fixture
def cluster() -> Iterator[Callable[..., Any]]:
    """Starts a scheduler with so many worker processes; what ends is started again."""
    import distributed

    started: list[Any] = []

    def start(workers: int) -> Any:
        options = {"dashboard_address": None, "silence_logs": 50, "processes": True}
        started.append(distributed.LocalCluster(n_workers=workers, threads_per_worker=1, **options))
        return started[-1]

    yield start
    for one in started:
        one.close(timeout=20)


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not computed by a worker is not computed at all."""
    ahead = Scheduled._ahead
    monkeypatch.setattr(Scheduled, "_ahead", lambda self, work, arguments, _here: ahead(self, work, arguments, pytest.fail))


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_batches, "PART", 1000)


def drawn(elsewhere: Any, noise: Any, to: str) -> tuple[bytes, bytes]:
    with dp.simulate(7, elsewhere=elsewhere) as channel:
        reports = channel.reports("r", np.arange(N) % 2, noise, sensitivity=1, to=to)
        return reports.values.tobytes(), reports.sum().tobytes()


@pytest.mark.usefixtures("short_parts", "nothing_here")
def test_local_and_shuffled_reports_are_the_same_to_the_bit(cluster: Callable[..., Any]) -> None:
    noises = [dp.Laplace(scale=1), dp.RandomizedResponse(epsilon="1"), UnaryResponse(epsilon="1", k=4)]
    cases = [(noise, to) for noise in noises for to in ("server", "shuffled")]
    here = [drawn(None, *case) for case in cases]
    with connected(cluster(2).scheduler_address) as workers:
        assert [drawn(workers, *case) for case in cases] == here


def slow_work() -> Callable[[int], tuple[int, int]]:
    """A function that travels by value: workers do not have this module."""

    def slowly(number: int) -> tuple[int, int]:
        time.sleep(0.05)
        return number, os.getpid()

    return slowly


@pytest.mark.usefixtures("nothing_here")
def test_a_killed_worker_changes_nothing(cluster: Callable[..., Any]) -> None:
    with connected(cluster(2).scheduler_address) as workers:
        found = []
        for number, process in workers.each(slow_work(), ((number,) for number in range(100))):
            found.append(number)
            assert process != os.getpid()
            if number == 10:
                os.kill(process, signal.SIGKILL)
        assert found == list(range(100))


@pytest.mark.usefixtures("short_parts", "nothing_here")
def test_a_worker_that_is_killed_while_it_draws_changes_no_report(cluster: Callable[..., Any]) -> None:
    here = drawn(None, dp.Laplace(scale=1), "shuffled")
    local = cluster(2)
    with connected(local.scheduler_address) as workers:
        victim = next(iter(workers.client.run(os.getpid).values()))
        timer = threading.Timer(0.05, os.kill, (victim, signal.SIGKILL))
        timer.start()
        assert drawn(workers, dp.Laplace(scale=1), "shuffled") == here
        timer.join()


def test_no_workers_left_is_said_as_that(cluster: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "TIMEOUT", 1)
    local = cluster(1)
    with connected(local.scheduler_address) as workers:
        results = workers.each(slow_work(), ((number,) for number in range(100)))
        assert next(results)[0] == 0
        local.scale(0)
        with pytest.raises(NoScheduler, match="no workers left"):
            list(results)


def test_what_fails_in_a_worker_fails_here_as_it_is(cluster: Callable[..., Any]) -> None:
    with connected(cluster(1).scheduler_address) as workers, pytest.raises(ZeroDivisionError):
        list(Scheduled.each(workers, divmod, iter([(1, 0)])))


def test_a_run_gives_the_same_figures_on_a_scheduler(
    cluster: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_batches, "PART", 100)
    address = cluster(2).scheduler_address
    for name, more in (("local", ()), ("shuffled", ("--delta", "1e-6"))):
        command = ["run", name, "--epsilon", "1", "--horizon", "3000", "--seed", "1", "--format", "json", *more]
        assert main(command) == 0
        here = capsys.readouterr().out
        assert main([*command, "--scheduler", address]) == 0
        assert capsys.readouterr().out == here


def test_a_live_door_sends_nothing_to_a_scheduler(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "local", "--epsilon", "1", "--horizon", "3000", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "private values do not leave" in capsys.readouterr().err
