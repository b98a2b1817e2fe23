"""A missing program or package is named, and fails a CI job only; no test waits for ever; every test is of one tier."""

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

@pytest.mark.needs(module="json")
def test_with_a_package_that_is_there():
    pass

@pytest.mark.needs(module="no_such_package")
def test_with_a_package_that_is_not():
    pass
"""


@pytest.mark.parametrize(("ci", "outcome", "code"), [("", "2 skipped", 0), ("true", "2 errors", 1)])
def test_a_missing_program_or_package_is_named_and_fails_only_in_ci(tmp_path: Path, ci: str, outcome: str, code: int) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert "2 passed" in done.stdout
    assert outcome in done.stdout
    assert "did not run: no-such-program" in done.stdout
    assert "did not run: no_such_package" in done.stdout
    assert "did not run: sh" not in done.stdout
    assert "did not run: json" not in done.stdout


ENDLESS = """
import subprocess
import sys

def test_that_waits_for_ever(start_child):
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(1000)"
    child = start_child([sys.executable, "-c", code], stdout=subprocess.PIPE)
    print("child", child.stdout.readline())
    child.communicate()
"""


def test_a_test_that_waits_for_ever_fails_and_leaves_no_child(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(ENDLESS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "timeout=2", "-o", "timeout_method=signal"]
    done = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stdout
    assert "Timeout (>2.0s)" in done.stdout
    child = int(next(line for line in done.stdout.splitlines() if line.startswith("child")).split()[1])
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


TIERS = """
import pytest

@pytest.fixture
def cluster():
    pass

@pytest.mark.slow
def test_marked():
    pass

def test_with_servers(cluster):
    pass

def test_quick():
    pass
"""


@pytest.mark.parametrize(("tier", "outcome"), [("slow", "2 passed, 1 deselected"), ("not slow", "1 passed, 2 deselected")])
def test_every_test_is_in_one_tier(tmp_path: Path, tier: str, outcome: str) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(TIERS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-p", "no:cacheprovider", "-m", tier, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert outcome in done.stdout


def test_every_test_of_this_suite_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    assert 0 < float(pytestconfig.getini("timeout")) <= 600
    assert pytestconfig.getini("timeout_method") == "signal"
