"""Corrected noise and ε0 rules: verified as corrected, refuted with what the paper prints or a planted slip."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.linear_bandits.algorithms.shuffled_batches import closed_rule, printed_rule
from proofs_checks.linear_bandits.repairs.epsilon0 import (
    by_enumeration,
    clone_delta,
    clones,
    closed,
    exact_threshold,
    response_delta,
)
from proofs_checks.linear_bandits.repairs.noise import noise


def test_noise_for_the_range_costs_exactly_the_claim() -> None:
    found = noise(quick=True)
    assert found.verdict == "verified"
    assert {row["verdict"] for row in found.evidence["audits"]} == {"certified"}
    assert all(row["cost of a scale 1/1000 smaller"] > row["ε"] for row in found.evidence["exact cost"])


def test_what_the_corrections_buy_is_the_claim_in_place_of_a_violation() -> None:
    for row in noise(quick=True).evidence["privacy it buys"][:3]:
        assert row["true ε as printed"] == 2 * row["claimed ε"] == 2 * row["true ε corrected"]
    for found in (closed(quick=True), clones(quick=True)):
        rows = found.evidence["privacy it buys, noise Lap(2/ε0)"]
        assert [row["outcome"] for row in rows] == ["proven", "proven", "violated", "proven", "violated", "proven"]


def test_twin_the_printed_noise_does_not() -> None:
    assert noise(quick=True, scale=lambda spread, epsilon: 1 / epsilon).verdict == "refuted"
    found = noise(quick=True, calibration="printed")
    assert found.verdict == "refuted"
    assert {row["verdict"] for row in found.evidence["audits"]} == {"refuted"}


def test_the_closed_rule_is_proven_in_every_batch() -> None:
    assert closed(quick=True).verdict == "verified"


def test_twin_without_the_domain_it_is_refuted() -> None:
    assert closed(quick=True, rule=printed_rule).verdict == "refuted"


def test_twin_a_rule_above_the_formula_is_not_verified() -> None:
    assert closed(quick=True, rule=lambda e, n, d: closed_rule(e, n, d) * Fraction(101, 100)).verdict != "verified"


def test_the_clone_formula_is_its_definition_and_bounds_randomised_response() -> None:
    assert clones(quick=True).verdict == "verified"
    assert response_delta(3, Fraction(3), Fraction(2)) < by_enumeration(3, Fraction(3), Fraction(2))
    assert clone_delta(1, Fraction(3), Fraction(2)) == Fraction(1, 4)  # one report alone: (p − e)/(1 + p)


def test_twin_a_threshold_that_is_off_by_one_gives_another_value() -> None:
    for shift in (-1, 1):
        assert clones(quick=True, threshold=lambda m, p, e, shift=shift: exact_threshold(m, p, e) + shift).verdict == "refuted"
