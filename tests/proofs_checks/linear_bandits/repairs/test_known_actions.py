"""Who knows who played what: ε0 for the reports of one's own action holds, ε0 for the whole batch does not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from proofs_checks.linear_bandits.algorithms.arm_views import REPORTS, SUM, best_event, sum_delta, unnamed_reports, views
from proofs_checks.linear_bandits.algorithms.shuffled_batches import LAST_BATCH, printed_rule
from proofs_checks.linear_bandits.repairs.known_actions import FEW, examined, known_actions, splits

ONE, DELTA = Fraction(1), Fraction("1e-6")


def test_amplification_over_the_fewest_reports_of_an_action_holds() -> None:
    found = known_actions(quick=True)
    assert found.verdict == "verified"
    n_i, n_ia = found.evidence["privacy it buys"]
    assert (n_i["outcome"], n_ia["outcome"]) == ("violated", "proven")
    regrets = [row["regret"] for row in found.evidence["regret, K=10, d=2, T=10^6, ε=1, δ=1e-6"]]
    assert regrets == sorted(regrets)  # the larger the crowd, the less noise


@pytest.mark.parametrize("crowd", [sum, max, lambda counts: min(counts) + 1])
def test_twin_amplification_over_more_reports_is_refuted(crowd) -> None:
    found = known_actions(quick=True, crowd=crowd)
    assert found.verdict == "refuted"
    shown = found.evidence["counterexample"]
    assert shown["δ seen"] > shown["δ of the crowd"]


def test_a_crowd_of_one_is_the_fallback() -> None:
    row = examined((1, LAST_BATCH - 1), ONE, min)
    assert row["outcome"] == "proven"
    assert row["ε0"] == pytest.approx(1, abs=1e-5)


def test_the_two_figures_of_an_arm_of_thirty_are_two_views_of_it() -> None:
    epsilon0 = printed_rule(ONE, LAST_BATCH, DELTA)
    assert float(epsilon0) == pytest.approx(6.781, abs=5e-4)
    rows = views(FEW, epsilon0, ONE)
    by_view = {row["who knows the arm sees"]: row for row in rows if row["δ ≥"] is not None}
    assert by_view[SUM]["δ ≥"] == pytest.approx(0.0842, abs=1e-4)
    assert by_view[REPORTS]["δ ≥"] <= 0.7281 <= by_view[REPORTS]["δ ≤"] + 1e-3


def test_the_sum_of_an_arm_leaks_what_draws_of_it_leak() -> None:
    """P(sum > x) − e·P(sum > x + 2) at the best x, from 10^6 sums: within 5 standard errors (0.0025), an error rate of 10^-6."""
    rng, scale = np.random.default_rng(3), 2 / 6.7812
    sums = scale * (rng.standard_gamma(30, 10**6) - rng.standard_gamma(30, 10**6))
    drawn = (sums > 1.543).mean() - math.e * (sums > 3.543).mean()
    low, high = sum_delta(30, Fraction("6.7812"), ONE)
    assert high - low < Fraction(1, 10**9)
    assert abs(drawn - float(low)) < 5 * 0.0005
    assert abs(drawn - 0.7280) > 5 * 0.0005  # the other figure would be noticed


@pytest.mark.parametrize(("n", "epsilon0", "epsilon"), [(1, 3.0, 1.0), (2, 2.0, 0.5), (5, 4.0, 1.0), (30, 6.7812, 1.0)])
def test_the_convolution_encloses_draws_of_the_reports(n: int, epsilon0: float, epsilon: float) -> None:
    """E(1 − e^ε·mean L)_+ from 400,000 draws of n reports: 5 standard errors, an error rate of 10^-6."""
    reports = np.random.default_rng(4).laplace(0, 2 / epsilon0, (400_000, n))
    ratio = np.exp((np.abs(reports) - np.abs(reports + 2)) * epsilon0 / 2).mean(axis=1)
    value = np.maximum(1 - math.exp(epsilon) * ratio, 0)
    low, high = unnamed_reports(n, epsilon0, epsilon)
    error = 5 * value.std() / math.sqrt(len(value))
    assert low - error <= value.mean() <= high + error
    assert high - low < 0.01


def test_an_event_is_no_more_than_the_whole_view() -> None:
    event, _ = best_event(10, Fraction(5), ONE)
    assert float(event) <= unnamed_reports(10, 5.0, 1.0)[1]
    alone, _ = best_event(1, Fraction(5), ONE)
    assert float(alone) == pytest.approx(1 - math.exp(-2), abs=1e-4)


def test_every_way_to_share_out_four_clients() -> None:
    assert sorted(splits(4)) == [(1, 1, 1, 1), (1, 1, 2), (1, 3), (2, 2), (4,)]
