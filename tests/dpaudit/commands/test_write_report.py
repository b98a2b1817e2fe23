"""A report that is printed on a terminal fits it; in a pipe or a file a row of a table stays one line."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.dpaudit.commands.terminals import shown_on

RELEASE = {"mechanism": "gaussian", "sigma": "4", "sensitivity": "1", "sampling": "0.04", "count": "10"}


def on_a_terminal(columns: int, *arguments: str) -> list[str]:
    """The lines that stdout shows on a terminal of so many columns."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "dpaudit", *arguments]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(slave)
        return shown_on(master, process).splitlines()


@pytest.mark.parametrize("columns", [80, 120])
def test_an_account_fits_the_terminal_that_it_is_printed_on(tmp_path: Path, columns: int) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(RELEASE), encoding="utf-8")
    lines = on_a_terminal(columns, "account", str(tmp_path / "r.jsonl"), "--delta", "1e-5")
    assert max(map(len, lines[1:])) <= columns  # the first holds the whole path
    assert any("secret coin" in line for line in lines)


def test_in_a_file_a_release_is_one_line_whatever_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(RELEASE), encoding="utf-8")
    on_a_terminal(80, "account", str(tmp_path / "r.jsonl"), "--delta", "1e-5", "--output", str(tmp_path / "r.txt"))
    lines = (tmp_path / "r.txt").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("line 1") for line in lines) == 1
    assert max(map(len, lines)) > 200
