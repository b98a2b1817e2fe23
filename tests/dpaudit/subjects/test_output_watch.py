"""What a subject writes is counted, recorded on every way out, and compared; what others write goes where it went."""

from __future__ import annotations

import io
import logging
import os
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.subjects.output_watch import OutputLog, counting_output, difference, diverted_output, recording_output


def sent(text: str) -> None:
    here, there = socket.socketpair()
    with here, there:
        here.sendall(text.encode())


def filed(text: str, folder: Path, how: str) -> None:
    if how == "path":
        (folder / "log.txt").write_text(text, encoding="utf-8")
    elif how == "numpy":
        np.save(folder / "a.npy", np.frombuffer(text.encode(), dtype=np.uint8))
    else:
        with open(folder / "log.txt", "a", encoding="utf-8") as file:
            print(text, file=file)


WAYS: dict[str, tuple[str, Callable[[str, Path], Any]]] = {
    "print": ("stdout", lambda text, _: print(text)),
    "stderr": ("stderr", lambda text, _: print(text, file=sys.stderr)),
    "bytes": ("stdout", lambda text, _: sys.stdout.buffer.write(text.encode())),
    "os.write": ("stdout", lambda text, _: os.write(1, text.encode())),
    "warning": ("a warning", lambda text, _: warnings.warn(text, stacklevel=1)),
    "log": ("a log", lambda text, _: logging.warning("%s", text)),
    "log of a low level": ("a log", lambda text, _: logging.getLogger("deep.down").debug(text)),
    "file": ("a file", lambda text, folder: filed(text, folder, "open")),
    "path": ("a file", lambda text, folder: filed(text, folder, "path")),
    "numpy file": ("a file", lambda text, folder: filed(text, folder, "numpy")),
    "file name": ("a file", lambda text, folder: open(folder / text, "w").close()),
    "socket": ("a socket", lambda text, _: sent(text)),
    "program": ("another program", lambda text, _: subprocess.run(["true", text], check=True)),
}


@pytest.mark.parametrize(("way", "write"), WAYS.values(), ids=WAYS.keys())
def test_every_way_out_is_recorded_and_compared(way: str, write: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logs = []
    for text in ("one", "other", "one"):
        with recording_output() as log, diverted_output():
            write(text, tmp_path)
        logs.append(log)
    assert difference(logs[0], logs[1]) == [way]
    assert difference(logs[0], logs[2]) == []
    assert capfd.readouterr() == ("", "")


def test_addresses_of_objects_are_no_difference() -> None:
    logs = []
    for _ in range(2):
        held = [object() for _ in range(100)]
        with recording_output() as log, diverted_output():
            print(held[len(logs) * 50])
        logs.append(log)
    assert logs[0].texts != logs[1].texts
    assert difference(*logs) == []


def test_everything_is_put_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = open, io.open, os.write, logging.Logger.handle, subprocess.Popen.__init__, sys.stdout, vars(socket.socket).keys()
    with pytest.raises(ValueError, match="own"), recording_output(), diverted_output():
        raise ValueError("own")
    after = open, io.open, os.write, logging.Logger.handle, subprocess.Popen.__init__, sys.stdout, vars(socket.socket).keys()
    assert before == after
    print("seen")
    assert capsys.readouterr().out == "seen\n"


def test_without_a_log_a_subject_prints_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    with diverted_output():
        print("deployed")
    assert capsys.readouterr().out == "deployed\n"


def test_threads_that_were_there_before_write_where_they_wrote(capsys: pytest.CaptureFixture[str]) -> None:
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(10)
        print("progress")
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    with recording_output() as log, diverted_output():
        go.set()
        assert done.wait(10)
        inner = threading.Thread(target=lambda: print("mine"))
        inner.start()
        inner.join()
    thread.join()
    assert log.text("stdout") == "mine\n"
    assert capsys.readouterr().out == "progress\n"


def test_an_audit_counts_what_its_subject_prints_and_shows_none_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=3, low=0, high=1))
    def chatty(data: Any, channel: Any) -> Any:
        print("working")
        return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)

    with counting_output() as log, dp.simulate(1) as channel:
        chatty.run(np.zeros(3), channel)
    assert log.written == len("working\n")
    assert log.texts == {}
    assert capsys.readouterr().out == ""


def test_ways_of_one_side_alone_are_a_difference() -> None:
    one, other = OutputLog(keeps=True), OutputLog(keeps=True)
    one.add("stdout", "x")
    assert difference(one, other) == difference(other, one) == ["stdout"]
