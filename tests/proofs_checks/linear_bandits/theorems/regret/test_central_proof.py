"""Steps of the proof of Theorem 1, each as printed and with a planted constant."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from proofs_checks.linear_bandits.theorems.regret.central_proof import (
    gap_index,
    gap_threshold,
    geometric_sum,
    net_count,
    net_loss,
    small_batches,
)

AS_PRINTED = [
    (gap_threshold, "refuted"),
    (gap_index, "refuted"),
    (geometric_sum, "refuted"),
    (net_loss, "verified"),
    (net_count, "verified"),
    (small_batches, "refuted"),
]
PLANTED = [
    (gap_threshold, {"divisor": 4}, "verified"),
    (gap_index, {"shift": 1}, "verified"),
    (geometric_sum, {"constants": (1 / (math.sqrt(math.e) - 1), Fraction(2))}, "verified"),
    (geometric_sum, {"constants": (2.0, Fraction(1))}, "refuted"),
    (geometric_sum, {"constants": (1.0, Fraction(2))}, "refuted"),
    (net_loss, {"zeta": lambda horizon: Fraction(2, horizon)}, "refuted"),
    (net_count, {"claimed": lambda horizon, d: (2 * horizon) ** d}, "refuted"),
    (small_batches, {"factor": 4}, "verified"),
]


@pytest.mark.parametrize(("check", "verdict"), AS_PRINTED)
def test_the_step_as_printed(check, verdict):
    assert check(True).verdict == verdict


@pytest.mark.parametrize(("check", "planted", "verdict"), PLANTED)
def test_a_planted_constant_turns_the_verdict(check, planted, verdict):
    assert check(True, **planted).verdict == verdict


def test_the_least_counterexamples_are_exact():
    assert gap_threshold(True).evidence["counterexample"]["γ"] == Fraction(2, 5)
    assert geometric_sum(True).evidence["(a), least T"]["T"] == 55


def test_the_count_of_the_net_states_the_range_it_has():
    found = net_count(True)
    assert "every T ≥ 2" in found.evidence["range"]
    assert "T = 1" in found.evidence["not covered"]
    larger = net_count(True, claimed=lambda horizon, d: (2 * horizon + 1) ** d + d)  # just enough, without the general step
    assert larger.verdict == "verified"
    assert "every T" not in larger.evidence["range"]
