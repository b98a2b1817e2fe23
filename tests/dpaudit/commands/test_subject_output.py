"""What a subject prints, by whichever way, never mixes with the report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli import main
from dpaudit.commands.subject_output import output_aside

TALKS = """
import os
import subprocess
import dpaudit as dp

print("while it is loaded")

@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=3, low=0, high=1))
def talks(data, rng):
    print("from Python")
    os.write(1, b"from a library\\n")
    return data.sum() + rng.laplace(scale=5)

@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=3, low=0, high=1))
def quits(data, channel):
    raise SystemExit(0)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "talks.py").write_text(TALKS, encoding="utf-8")
    return tmp_path / "talks.py"


def test_json_is_whole_whatever_the_subject_prints_in_whichever_process(file: Path) -> None:
    command = [sys.executable, "-m", "dpaudit", "audit", f"{file}:talks", "--samples", "500", "--seed", "1", "--workers", "2"]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["subject"] == "talks"
    for line in ("while it is loaded", "from Python", "from a library"):
        assert line in done.stderr  # the twin: it was printed


def test_output_without_a_file_behind_it_goes_aside_too(capsys: pytest.CaptureFixture[str]) -> None:
    with output_aside():
        print("aside")
    print("report")
    assert capsys.readouterr() == ("report\n", "aside\n")


def test_a_subject_that_ends_the_process_does_not_end_the_audit_with_its_own_code(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", f"{file}:quits", "--seed", "1"]) == 2
    assert "quits raised SystemExit at " in capsys.readouterr().err


@pytest.mark.parametrize(("option", "shown"), [((), False), (("--traceback",), True)])
def test_a_traceback_is_shown_on_request(
    option: tuple[str, ...], shown: bool, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", f"{file}:quits", "--seed", "1", *option]) == 2
    assert ("Traceback (most recent call last)" in capsys.readouterr().err) is shown
