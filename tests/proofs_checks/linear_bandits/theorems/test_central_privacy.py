"""Theorem 1's checks: as printed, and with a planted variant that must give the other verdict."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from algorithms import central
from proofs_checks.linear_bandits.algorithms.last_action import last_action
from proofs_checks.linear_bandits.theorems.central_privacy import privacy, sensitivity
from proofs_checks.linear_bandits.theorems.table1_ours import central_row


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


def test_what_is_played_last_tells_twice_the_claim_in_closed_form() -> None:
    """By hand: 4 pulls whose sum is just below 0 or −2; P(0 + Lap(1/ε) ≥ 0) = ½ against ½e^{−2ε}."""
    shown = privacy(quick=True).evidence["counterexample"]
    assert (shown["T"], shown["n_1"], shown["ε"], shown["event"]) == (8, 4, "1", "what is played last is 1")
    assert (float(shown["P"]), float(shown["P'"])) == pytest.approx((0.5, math.exp(-2) / 2), rel=1e-5)
    assert shown["loss/ε"] == pytest.approx(2, rel=1e-12)


def test_twin_with_the_corrected_noise_it_tells_the_claim_and_no_more() -> None:
    for epsilon in ("1/10", "1", "5"):
        assert last_action(central, "corrected", epsilon)["loss/ε"] == pytest.approx(1, rel=1e-12)


def test_twin_who_plays_one_action_tells_nothing_by_playing_it() -> None:
    """The server sees noisy sums whose loss is 2ε; Definition 1's observer sees a constant."""

    def lonely(**setting: object) -> object:
        return central(**{**setting, "actions": np.array([[1.0]])})

    assert privacy(quick=True, make=lonely).verdict == "conditional"
    assert central_row(True, make=lonely).verdict == "conditional"


def test_twin_the_corrected_algorithm_is_certified() -> None:
    assert privacy(quick=True, calibration="corrected").verdict == "verified"


def test_twin_noise_for_twice_the_claim_is_certified() -> None:
    def generous(**setting: object) -> object:
        return central(**{**setting, "low": 0, "high": 1})  # rewards in [0, 1]: the printed noise is enough

    assert privacy(quick=True, make=generous).verdict == "verified"
