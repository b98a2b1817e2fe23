"""A command that takes a while says so on a terminal, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.dpaudit.commands.terminals import shown_on

SLOW = "import time; from dpaudit.commands.waiting import waiting\nwith waiting('dpaudit account', 0.05): time.sleep(0.5)"
FAST = "from dpaudit.commands.waiting import waiting\nwith waiting('dpaudit account', 5): pass"
BAR = """import time
from dpaudit.commands import progress
from dpaudit.commands.waiting import waiting
with waiting('dpaudit audit', 0.3), progress('auditing', 2) as tell:
    tell('one'); time.sleep(0.8); tell('two')
"""


def on_a_terminal(program: str) -> str:
    """What stderr shows when it is a terminal."""
    master, slave = os.openpty()
    with subprocess.Popen([sys.executable, "-c", program], stderr=slave, stdout=subprocess.DEVNULL) as process:
        os.close(slave)
        return shown_on(master, process)


def test_a_slow_command_says_that_it_is_at_work_and_clears_the_line() -> None:
    shown = on_a_terminal(SLOW)
    assert shown.startswith("dpaudit account: at work …")
    assert shown.endswith("\r\x1b[K")


def test_a_fast_command_says_nothing() -> None:
    assert on_a_terminal(FAST) == ""


def test_a_bar_is_shown_instead() -> None:
    shown = on_a_terminal(BAR)
    assert "auditing" in shown
    assert "at work" not in shown


def test_nothing_is_said_where_nobody_looks() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "")
