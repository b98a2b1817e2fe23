"""The long tests run, say what they found, and end with 1 when a figure is missed. Here in very small."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.soak_subjects import judge, lie, outcomes
from benchmarks.subject_truths import (
    LEAK,
    Pair,
    Step,
    Truth,
    gaussian_epsilon,
    neighbouring_pairs,
    pure_loss,
    truth_of,
)

pytestmark = pytest.mark.slow


def soak(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.soak", *arguments]
    return subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("part", "figures"), [("kills", 3), ("draws", 5), ("flips", 5), ("logs", 5)])
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


def test_the_truth_of_an_adaptive_program_is_the_largest_loss_over_all_outputs() -> None:
    """Beside the ends of each branch: every output on a lattice of 1/8, by its probabilities."""
    values = tuple((Fraction(value),) for value in (-1, 0, 2))
    pairs = list(neighbouring_pairs(2, values, removal=False))
    first = Step(lambda d: (sum((r[0] for r in d), Fraction(0)),), "laplace", Fraction(2))
    above = Step(lambda d: (sum((3 * r[0] for r in d), Fraction(0)),), "laplace", Fraction(2))
    below = Step(lambda d: (Fraction(d[0][0] > 0),), "response", Fraction(7, 4))
    lattice = [Fraction(k, 8) for k in range(-400, 401)]

    def loss(pair: Pair, out: Fraction) -> Fraction:
        (one,), (other,) = (first.measure(data) for data in pair)
        later = pure_loss(above if out > 0 else below, pair)
        return (abs(out - other) - abs(out - one)) / first.size + later

    largest = max(loss(pair, out) for pair in pairs for out in lattice)
    truth = truth_of(pairs, [first], [above], [below], Fraction(0))
    assert truth.low <= largest <= truth.high
    assert truth.high - truth.low < Fraction(1, 1000)
    assert largest < truth_of(pairs, [first, above, below], None, None, Fraction(0)).low  # what both branches would cost


def test_the_truth_of_gaussian_noise_is_known() -> None:
    """ε of a shift by one standard deviation at δ = 10^-5 is 4.377178 (Balle, Wang 2018)."""
    assert gaussian_epsilon(Fraction(1), 1e-5) == pytest.approx(4.377178, abs=1e-5)
