"""A process that the gate's worker starts reads neither its memory nor its files; without closing them, it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="closes what Linux leaves open")
WORKER = """
import os, subprocess, sys
from dpaudit.gate.workers.closed_memory import close_for_good, closed_memory
how = sys.argv[1]
if how == "for good":
    close_for_good()
child = "import os; print(open(f'/proc/{os.getppid()}/mem', 'rb') and open(f'/proc/{os.getppid()}/fd/0', 'rb') and 'read')"
seen = subprocess.run([sys.executable, "-I", "-c", child], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
print(seen.strip() or "refused")
"""


@pytest.mark.parametrize(("how", "seen"), [("open", "read"), ("for good", "refused")])
def test_what_a_worker_starts_cannot_look_into_it(how: str, seen: str) -> None:
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    scope = yama.read_text(encoding="ascii").strip() if yama.exists() else "0"
    if how == "open" and scope != "0" and os.geteuid() != 0:
        pytest.skip("this system refuses it to everybody")
    with open(os.devnull, "rb") as nothing:
        done = subprocess.run(
            [sys.executable, "-c", WORKER, how], stdin=nothing, capture_output=True, text=True, timeout=60, check=True
        )
    assert done.stdout.strip() == seen, done.stderr


def test_the_gate_is_as_open_as_before_when_a_worker_has_ended() -> None:
    script = (
        "import ctypes\nfrom dpaudit.gate.workers.closed_memory import closed_memory\nask = ctypes.CDLL(None).prctl\n"
        "with closed_memory():\n    inside = ask(3, 0, 0, 0, 0)\nprint(inside, ask(3, 0, 0, 0, 0))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0", "1"]
