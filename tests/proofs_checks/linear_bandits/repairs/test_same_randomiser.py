"""One randomiser for all: every step in exact fractions, and laws for which the check must fail."""

from fractions import Fraction

import pytest

from dpaudit.accountants.shuffle.clone import SAME
from proofs_checks.linear_bandits.repairs import same_randomiser as proof


def test_every_step_is_verified_by_computation():
    decision = proof.same_randomiser(True)
    assert decision.verdict == "verified"
    assert "clones hold there" in decision.evidence["not covered"]


def test_a_law_with_a_little_less_weight_is_refuted_by_binary_response():
    def light(p, e):
        return [(weight * Fraction(99, 100), value) for weight, value in proof.worst_law(p, e)]

    decision = proof.same_randomiser(True, worst=light)
    assert decision.verdict == "refuted"


def test_steps_fail_outside_their_range():
    p = Fraction(2)
    assert not proof.rises_in_convex_order(p, Fraction(4), Fraction(1, 2))  # ε > ε0
    assert not proof.is_mean_of_its_parts(p, Fraction(1), Fraction(3))  # no randomiser with e^ε0 = 2 has the ratio 3


def test_public_labels_are_not_covered_by_the_number_of_reports():
    row = proof.same_randomiser(True).evidence["two reports with different labels"]
    assert row["δ"] > row["the theorem with n = 2"]
    assert row["δ"] == row["with n = 1"]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_accountant_encloses_the_theorem(n):
    p, e = Fraction(3), Fraction(3, 2)
    local, epsilon = Fraction("1.0986122886681098"), Fraction("0.4054651081081644")  # log 3, log 3/2
    low, high = SAME.delta(local, n, epsilon, Fraction(1, 10**6))
    assert float(low) == pytest.approx(float(proof.sum_delta(proof.worst_law(p, e), n)), rel=1e-12)
    assert float(high) == pytest.approx(float(low), rel=1e-12)


def test_positions_with_randomisers_of_their_own_are_covered_if_nobody_sees_who_stands_where():
    """Binary response at one position and its mirror at the other: dealt in secret the theorem holds, in public it does not."""
    p, e = Fraction(3), Fraction(3, 2)
    binary = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    randomisers, bound = [binary, binary[::-1]], proof.sum_delta(proof.worst_law(p, e), 2)
    assert proof.dealt_delta(randomisers, e, (0, 1)) <= bound < proof.dealt_delta(randomisers, e, (0, 1), secret=False)


def test_equal_positions_are_one_randomiser():
    e = Fraction(5, 4)
    for _, rows in proof.channels(4):
        assert proof.dealt_delta([rows, rows], e, (0, 1)) == proof.exact_delta(rows, 2, e, (0, 1))
