"""Files that commands read and write: nothing is overwritten by accident, nothing waits for ever, names may be odd."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.cli import main


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "today.ledger"
    with dp.open_ledger(path) as opened, dp.live(opened) as channel:
        channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    assert main(["keygen", "-o", str(tmp_path / "key"), "--output", str(tmp_path / "log")]) == 0
    return tmp_path / "key"


@pytest.mark.parametrize("command", [["verify"], ["account"]])
def test_a_command_does_not_overwrite_the_ledger_it_reads(command: list[str], ledger: Path) -> None:
    before = ledger.read_bytes()
    assert main([*command, str(ledger), "--output", str(ledger)]) == 2
    (ledger.parent / "link").symlink_to(ledger)
    assert main([*command, str(ledger), "--output", str(ledger.parent / "link")]) == 2
    assert ledger.read_bytes() == before


def test_a_checkpoint_does_not_overwrite_its_key(ledger: Path, key: Path) -> None:
    before = key.read_bytes()
    assert main(["checkpoint", str(ledger), "--key", str(key), "--output", str(key)]) == 2
    assert key.read_bytes() == before


def test_a_run_does_not_overwrite_the_ledger_it_makes(tmp_path: Path) -> None:
    place = str(tmp_path / "new")
    assert main(["run", "central", "--epsilon", "1", "--horizon", "100", "--ledger", place, "--output", place]) == 2
    assert not Path(place).exists()


def test_an_audit_does_not_overwrite_its_file(tmp_path: Path) -> None:
    target = tmp_path / "mine.py"
    target.write_text("subject = 1\n", encoding="utf-8")
    assert main(["audit", f"{target}:subject", "--output", str(target)]) == 2
    assert target.read_text(encoding="utf-8") == "subject = 1\n"


def test_a_checkpoint_is_held_against_a_trusted_key_or_proves_nothing(ledger: Path, key: Path) -> None:
    mark = ledger.parent / "mark.json"
    assert main(["checkpoint", str(ledger), "--key", str(key), "--output", str(mark)]) == 0
    assert main(["verify", str(ledger), "--checkpoint", str(mark), "--key", f"{key}.pub"]) == 0
    assert main(["verify", str(ledger), "--checkpoint", str(mark)]) == 3
    assert main(["verify", str(ledger), "--key", f"{key}.pub"]) == 2
    assert main(["verify", str(ledger)]) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("command", [["verify"], ["account"], ["export"]])
def test_a_pipe_is_refused_instead_of_waited_for(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert main([*command, str(tmp_path / "pipe"), "--output", str(tmp_path / "out.jsonl")]) == 2
    assert "regular file" in capsys.readouterr().err


def test_a_key_without_an_end_is_refused(ledger: Path) -> None:
    assert main(["checkpoint", str(ledger), "--key", "/dev/zero"]) == 2


def test_a_list_of_a_million_lists_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("[" + "[]," * 10**6 + "[]]", encoding="utf-8")
    assert main(["account", str(many)]) == 2
    assert "split it" in capsys.readouterr().err


def test_names_that_cannot_be_printed_are_escaped(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/bad\xff.ledger"
    run = [sys.executable, "-m", "dpaudit", "verify", odd]
    done = subprocess.run(run, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)
    assert done.returncode == 2
    assert b"No such file" in done.stderr
    assert b"internal error" not in done.stderr
