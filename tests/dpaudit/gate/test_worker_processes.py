"""A budget's process ends with the gate, whatever ends the gate."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

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


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_gate_that_is_cancelled_ends_what_it_started(how: signal.Signals, folder: Path, budget: Callable[..., str]) -> None:
    (folder / "endless.py").write_text(ENDLESS, encoding="utf-8")
    (folder / "pyproject.toml").write_text(budget("service", subject="endless.py:f"), encoding="utf-8")
    script = Path(sys.executable).with_name("dpaudit")
    with subprocess.Popen([script, "check"], cwd=folder, stderr=subprocess.PIPE, text=True) as gate:
        wait_for((folder / "started").exists)
        worker = int((folder / "started").read_text(encoding="utf-8"))
        assert not gone(worker)
        os.kill(gate.pid, how)
        told = gate.communicate(timeout=60)[1]
    assert gate.returncode == 2
    assert "interrupted; nothing was concluded" in told
    wait_for(lambda: gone(worker))
