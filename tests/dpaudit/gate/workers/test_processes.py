"""A budget's process ends with the gate, whatever ends the gate."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ENDLESS = """
import os
import time
from pathlib import Path

import dpaudit as dp


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=2, low=-1, high=1))
def f(ratings, channel):
    Path("pid").write_text(str(os.getpid()))
    Path("pid").rename("started")
    time.sleep(1000)
"""


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def gone(process: int) -> bool:
    """Ended, also where nobody has collected it yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split(") ")[1].startswith("Z")
    except FileNotFoundError:
        return True


@pytest.fixture
def gate(
    folder: Path, budget: Callable[..., str], start_child: Callable[..., subprocess.Popen[str]]
) -> Iterator[Callable[..., tuple[subprocess.Popen[str], int]]]:
    """Starts a gate on a subject that never ends; gives it and the process id of its worker."""
    (folder / "endless.py").write_text(ENDLESS, encoding="utf-8")
    (folder / "pyproject.toml").write_text(budget("service", subject="endless.py:f"), encoding="utf-8")
    workers: list[int] = []

    def start(**options: Any) -> tuple[subprocess.Popen[str], int]:
        script = str(Path(sys.executable).with_name("dpaudit"))
        child = start_child([script, "check"], cwd=folder, stderr=subprocess.PIPE, **options)
        wait_for((folder / "started").exists)
        workers.append(int((folder / "started").read_text(encoding="utf-8")))
        assert not gone(workers[0])
        return child, workers[0]

    yield start
    for worker in workers:
        if not gone(worker):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_gate_that_is_cancelled_ends_what_it_started(
    how: signal.Signals, gate: Callable[..., tuple[subprocess.Popen[str], int]]
) -> None:
    child, worker = gate()
    os.kill(child.pid, how)
    told = child.communicate(timeout=60)[1]
    assert child.returncode == 2
    assert "interrupted; nothing was concluded" in told
    wait_for(lambda: gone(worker))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_gate_in_the_background_of_a_script_leaves_ctrl_c_to_others_and_can_be_cancelled(
    gate: Callable[..., tuple[subprocess.Popen[str], int]],
) -> None:
    """The shell has SIGINT ignored there; a program that took it back would end with a Ctrl-C meant for another one."""
    child, worker = gate(interrupt=signal.SIG_IGN)
    os.kill(child.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        child.communicate(timeout=1)
    os.kill(child.pid, signal.SIGTERM)
    assert "interrupted; nothing was concluded" in child.communicate(timeout=60)[1]
    wait_for(lambda: gone(worker))
