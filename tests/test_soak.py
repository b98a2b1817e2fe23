"""The long tests run, say what they found, and end with 1 when a figure is missed. Here in very small."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.soak_subjects import judge, lie, outcomes
from benchmarks.subject_truths import LEAK, Truth

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


@pytest.mark.parametrize("wrong", [["no-such-part"], ["--scale", "0"], ["--scale", "x"], ["--count", "0"]])
def test_what_it_does_not_know_is_refused(wrong: list[str]) -> None:
    assert soak(*wrong).returncode == 2


PROGRAMS = range(12)


def test_random_programs_get_no_false_certificate_and_no_false_refutation(tmp_path: Path) -> None:
    every = list(outcomes(tmp_path, PROGRAMS))
    wrong = [outcome.text() for outcome in every if outcome.problem.startswith("false")]
    assert len(every) == len(PROGRAMS)
    assert not wrong, "\n".join(wrong)
    assert {"certified", "refuted"} <= {outcome.verdict for outcome in every}  # both kinds of mistakes could have been made


def test_a_wrong_truth_of_a_random_program_is_reported_with_its_text(tmp_path: Path) -> None:
    wrong = [outcome for outcome in outcomes(tmp_path, PROGRAMS, lie) if outcome.problem.startswith("false")]
    assert {outcome.problem for outcome in wrong} == {"false certificate", "false refutation"}
    assert all("def program(x, channel):" in outcome.text() for outcome in wrong)


def test_a_truth_is_compared_with_the_claim_exactly() -> None:
    half, more = Fraction(1, 2), Fraction(1, 2) + Fraction(1, 2**40)
    assert judge("certified", Truth(half, half), half) == judge("refuted", Truth(more, more), half) == ""
    assert judge("certified", Truth(more, more), half) == "false certificate"
    assert judge("refuted", Truth(half, half), half) == "false refutation"
    assert judge("unproven", LEAK, half) == ""
    assert judge("certified", LEAK, half) == "false certificate"
    assert judge("TypeError", LEAK, half) == "error"
