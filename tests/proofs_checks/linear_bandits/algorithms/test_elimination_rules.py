"""The last line of the loop with either maximum, and θ̂ with either inverse."""

from __future__ import annotations

import pytest

from proofs_checks.linear_bandits.algorithms.elimination_rules import (
    algorithm1,
    algorithm2,
    algorithm3,
    corrected,
    witness,
    worst_excess,
)
from proofs_checks.linear_bandits.algorithms.singular_design import in_the_span, singular


@pytest.mark.parametrize("check", [algorithm1, algorithm3])
def test_a_maximum_over_all_actions_empties_the_good_set(check):
    found = check(True)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["A_{i+1}"] == "{}"
    assert found.evidence["one batch"]["good event"] == 1
    assert found.evidence["one batch"]["A_{i+1} empty"] > 0.4


@pytest.mark.parametrize("check", [algorithm1, algorithm3])
def test_a_maximum_over_the_good_set_keeps_the_optimum(check):
    assert check(True, maximum="active").verdict == "verified"


def test_algorithm_2_keeps_the_optimum_as_printed_and_not_with_the_other_maximum():
    found = algorithm2(True)
    assert found.verdict == "verified"
    assert "every A_i" in found.evidence["range"]
    assert algorithm2(True, maximum="all").verdict == "refuted"


def test_the_correction_is_verified_and_the_printed_rule_in_its_place_refuted():
    found = corrected(True)
    assert found.verdict == "verified"
    assert "every A_i" in found.evidence["range"]
    assert "good event" in found.evidence["not covered"]
    assert corrected(True, maximum="all").verdict == "refuted"


def test_the_exact_witness_exists_for_one_maximum_only():
    assert witness("all") is not None
    assert witness("active") is None


def test_linear_programs_stay_below_two_widths_for_good_actions():
    assert worst_excess("active", 0, 3) <= 1 + 1e-7


def test_the_design_becomes_singular_and_least_squares_in_the_span_does_not():
    assert singular(True).verdict == "conditional"  # it holds in the span, as Algorithm 1 also writes
    assert singular(True, solve=in_the_span).verdict == "verified"
