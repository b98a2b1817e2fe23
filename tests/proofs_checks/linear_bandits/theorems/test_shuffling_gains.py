"""The remarks after Theorem 3, and formulas of which they would be true."""

from __future__ import annotations

from proofs_checks.linear_bandits.theorems.shuffling_gains import low_privacy, small_epsilon_factor, variance


def test_the_variance_is_not_what_the_remark_says() -> None:
    found = variance(quick=True)
    assert found.verdict == "refuted"
    assert 243 < float(found.evidence["counterexample"]["times the claim"]) < 244  # 16 log(4·10^6)


def test_twin_with_its_constant_it_is() -> None:
    assert variance(quick=True, factor=small_epsilon_factor).verdict == "verified"


def test_shuffling_gains_above_one() -> None:
    found = low_privacy(quick=True)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["ε0 that exact clones allow"] > 4 * found.evidence["counterexample"]["ε"]


def test_twin_a_rule_that_gains_nothing_is_what_the_remark_says() -> None:
    assert low_privacy(quick=True, rule=lambda epsilon, n, delta: epsilon).verdict == "verified"
