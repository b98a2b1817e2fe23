"""A program that is missing is named and skipped on a developer's machine, and fails a CI job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.needs("sh")
def test_with_a_program_that_is_there():
    pass

@pytest.mark.needs("no-such-program")
def test_with_a_program_that_is_not():
    pass
"""


@pytest.mark.parametrize(("ci", "outcome", "code"), [("", "1 skipped", 0), ("true", "1 error", 1)])
def test_a_missing_program_is_named_and_fails_only_in_ci(tmp_path: Path, ci: str, outcome: str, code: int) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert "1 passed" in done.stdout
    assert outcome in done.stdout
    assert "did not run: no-such-program" in done.stdout
    assert "did not run: sh" not in done.stdout
