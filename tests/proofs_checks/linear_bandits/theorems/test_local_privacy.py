"""Theorem 2's privacy and the printed sum of reports, as printed and with a variant that must give the other verdict."""

from __future__ import annotations

from algorithms import local
from proofs_checks.linear_bandits.theorems.local_privacy import each_once, privacy, sum_index


def test_the_printed_noise_costs_twice_the_claim() -> None:
    found = privacy(quick=True)
    assert found.verdict == "refuted"
    assert [row["attacked ≥"] for row in found.evidence["audits"]] == [2.0]


def test_twin_corrected_noise_or_rewards_of_range_one_are_certified() -> None:
    assert privacy(quick=True, calibration="corrected").verdict == "verified"
    assert privacy(quick=True, make=lambda **setting: local(**{**setting, "low": 0, "high": 1})).verdict == "verified"


def test_the_printed_sum_counts_one_report_n_times() -> None:
    found = sum_index(quick=True)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["Σ r"] == 0
    assert found.evidence["counterexample"]["sum written, without noise"] == 2
    simulated = found.evidence["simulated"]
    # squared errors of 4000 draws have a standard error of about 4 %: five of them, error rate below 10^-6
    assert abs(simulated["mean squared error"] / simulated["expected"] - 1) < 0.2


def test_twin_each_report_once_is_right() -> None:
    assert sum_index(quick=True, weights=each_once).verdict == "verified"


def test_twin_a_sum_that_forgets_a_report_is_not() -> None:
    assert sum_index(quick=True, weights=lambda n: [1] * (n - 1) + [0]).verdict == "refuted"
