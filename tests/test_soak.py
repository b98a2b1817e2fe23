"""The long tests run, say what they found, and end with 1 when a figure is missed. Here in very small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def soak(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.soak", *arguments]
    return subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("part", "figures"), [("kills", 3), ("draws", 5), ("flips", 5)])
def test_a_part_prints_one_line_for_each_figure_and_meets_it(part: str, figures: int) -> None:
    done = soak(part, "--scale", "0.001")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == figures + 2  # header and summary
    assert all(line.endswith("  ok") for line in lines[1:-1])
    assert lines[-1].startswith("0 missed.")


@pytest.mark.parametrize("wrong", [["no-such-part"], ["--scale", "0"], ["--scale", "x"]])
def test_what_it_does_not_know_is_refused(wrong: list[str]) -> None:
    assert soak(*wrong).returncode == 2
