"""Theorem 1's checks: as printed, and with a planted variant that must give the other verdict."""

from __future__ import annotations

from fractions import Fraction

from algorithms import central
from proofs_checks.theorem1 import privacy, sensitivity


def test_the_sensitivity_is_refuted_by_rewards_of_both_signs() -> None:
    found = sensitivity(quick=True)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["‖r̄ − r̄'‖₁"] == 2


def test_twin_rewards_of_one_sign_or_a_claim_of_two_hold() -> None:
    assert sensitivity(quick=True, low=Fraction(0)).verdict == "verified"
    assert sensitivity(quick=True, claimed=Fraction(2)).verdict == "verified"


def test_the_printed_algorithm_is_refuted_for_both_observers() -> None:
    found = privacy(quick=True)
    assert found.verdict == "refuted"
    assert {(row["observer"], row["verdict"]) for row in found.evidence["audits"]} == {
        ("actions", "refuted"),
        ("server", "refuted"),
    }
    reached = {(row["observer"], row["ε"]): row["attacked ≥"] / Fraction(row["ε"]) for row in found.evidence["audits"]}
    assert all(times == 2 for (observer, _), times in reached.items() if observer == "server")  # exactly
    assert all(times > 1.3 for (observer, _), times in reached.items() if observer == "actions")  # as far as draws confirm it


def test_twin_the_corrected_algorithm_is_certified() -> None:
    assert privacy(quick=True, calibration="corrected").verdict == "verified"


def test_twin_noise_for_twice_the_claim_is_certified() -> None:
    def generous(**setting: object) -> object:
        return central(**{**setting, "low": 0, "high": 1})  # rewards in [0, 1]: the printed noise is enough

    assert privacy(quick=True, make=generous).verdict == "verified"
