"""The list of pending parts is itself held to account: run on a small tree with the same conftest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = "def test_done():\n    pass\n\n\ndef test_missing():\n    raise AssertionError\n"


def outcome(folder: Path, pending: str) -> tuple[int, str]:
    contract = folder / "tests" / "contract"
    contract.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("conftest.py"), contract)
    (contract / "test_sample.py").write_text(TESTS, encoding="utf-8")
    (contract / "pending.txt").write_text(pending, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--rootdir",
        str(folder),
        "-p",
        "no:cacheprovider",
        "tests/contract",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_listed_test_that_fails_is_expected(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, "# later\ntests/contract/test_sample.py::test_missing  issue 7: the gate\n")
    assert code == 0
    assert "1 passed, 1 xfailed" in said


@pytest.mark.parametrize(
    ("pending", "complaint"),
    [
        ("", "1 failed"),
        ("tests/contract/test_sample.py::test_done  issue 7: the gate\n", "XPASS(strict)"),
        (
            "tests/contract/test_sample.py::test_nothing  issue 7: the gate\n",
            "names a test that does not exist",
        ),
        ("tests/contract/test_gone.py::test_done  issue 7: the gate\n", "names a test that does not exist"),
        ("tests/contract/test_sample.py::test_missing\n", "expected `nodeid  issue N: reason`"),
    ],
)
def test_a_list_that_is_not_true_fails_the_session(tmp_path: Path, pending: str, complaint: str) -> None:
    code, said = outcome(tmp_path, pending)
    assert code != 0
    assert complaint in said
