"""``--output``: a whole file or none, and nothing that is no file is replaced by one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from dpaudit.commands import write_file


def test_a_file_is_replaced_as_a_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    place.write_text("old")
    place.chmod(0o640)
    (tmp_path / "out.txt.partial").write_text("somebody else's")
    write_file("new", str(place))
    assert place.read_text() == "new\n"
    assert place.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["out.txt", "out.txt.partial"]


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_file("new", str(link))
    assert link.is_symlink()
    assert target.read_text() == "new\n"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_file("new", str(pipe))
    reader.join(10)
    assert got == ["new\n"]
    assert pipe.is_fifo()


def test_nothing_is_left_behind_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_file("new", str(tmp_path / "out.txt"))
    assert os.listdir(tmp_path) == []
