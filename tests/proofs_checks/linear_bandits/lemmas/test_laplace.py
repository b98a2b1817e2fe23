"""Each check of the Laplace lemma as printed, and with a planted bound that must turn its verdict."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proofs_checks.linear_bandits.lemmas.laplace import branch1, branch2, laplace_sum, mgf_step
from proofs_checks.shared.laplace_tails import MP, chernoff


def exact_chernoff(n, t):
    """inf_x (1−x²)^{-n}e^{-xt}: what holds for every n and t."""
    return MP.mpf(float(chernoff(n, max(float(t), 1e-9))))


def test_the_moment_bound_fails_at_one_half_with_four_thirds():
    found = mgf_step(True)
    assert found.verdict == "refuted"
    assert "4/3" in found.evidence["summary"]


def test_the_corrected_moment_bound_holds():
    assert mgf_step(True, bound=lambda u: u**2 / (1 - u)).verdict == "verified"


def test_twin_a_bound_that_is_finite_at_the_end_fails():
    found = mgf_step(True, bound=lambda u: 4.2 * u**2)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["λl/b"] > Fraction(63, 64)


def test_twin_a_second_branch_that_fails_far_out_is_refuted():
    assert branch2(True, bound=lambda n, t: 20 * n - t).verdict == "refuted"


def test_the_first_branch_holds_up_to_six_noises_and_fails_at_seven():
    found = branch1(True)
    assert found.verdict == "refuted"
    assert found.evidence["proven for all t ≤ n"] == [1, 2, 3, 4, 5, 6]
    assert found.evidence["summary"].startswith("n = 7, t = 7")
    assert found.evidence["simulated"][0]["p-value"] < 1e-6


def test_the_second_branch_fails_at_two_noises_and_nine():
    found = branch2(True)
    assert found.verdict == "refuted"
    assert found.evidence["summary"].startswith("n = 2, t = 9")
    assert found.evidence["holds for"] == [1]
    assert found.evidence["simulated"][0]["p-value"] < 1e-6


@pytest.mark.parametrize("branch", [branch1, branch2])
def test_a_chernoff_bound_in_place_of_either_branch_is_verified(branch):
    assert branch(True, bound=exact_chernoff).verdict == "verified"


def test_the_corrected_sum_holds_and_one_with_half_the_variance_does_not():
    assert laplace_sum(True).verdict == "verified"
    assert laplace_sum(True, width=lambda n, level: np.sqrt(2 * n * level)).verdict == "refuted"
