"""The privacy columns of the paper's own rows of Table 1."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.linear_bandits.theorems.table1_ours import central_row, local_row, shuffled_epsilon0


def test_the_printed_rows_are_refuted_and_twice_their_epsilon_is_certified() -> None:
    for row in (central_row, local_row):
        found = row(quick=True)
        assert found.verdict == "refuted"
        assert found.evidence["what the printed noise does give"]["verdict"] == "certified"


def test_twin_the_corrected_algorithms_have_these_rows() -> None:
    assert central_row(quick=True, calibration="corrected").verdict == "verified"
    assert local_row(quick=True, calibration="corrected").verdict == "verified"


def test_epsilon0_does_not_grow_as_the_fourth_root() -> None:
    found = shuffled_epsilon0(quick=True)
    assert found.verdict == "refuted"
    small, constant = found.evidence["exponent of ε0/ε in T, 99.9 % interval"]
    assert small["from"] > 0.4
    assert constant["to"] < 0.25


def test_twin_a_rule_that_does_is_recognised() -> None:
    def fourth_root(epsilon: Fraction, n: int, delta: Fraction) -> Fraction:
        return epsilon * Fraction(n**0.25)

    assert shuffled_epsilon0(quick=True, rule=fourth_root).verdict == "verified"
    assert shuffled_epsilon0(quick=True, rule=fourth_root, power=Fraction(1, 2)).verdict == "refuted"
