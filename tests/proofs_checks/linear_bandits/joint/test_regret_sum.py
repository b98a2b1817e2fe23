"""Closed forms of the regret: above the sums batch by batch, below them with constants that are too small; κ against f itself."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from algorithms.elimination.confidence import Situation, widths
from proofs_checks.linear_bandits.joint import regret_sum
from proofs_checks.linear_bandits.joint.regret_sum import Constants, Size
from proofs_checks.linear_bandits.joint.second_routes import agree, closed_epsilon0, runs_against, sums_against

SUM = "sum, batch by batch, over the closed form ≤"


@pytest.mark.parametrize("model", ["central", "local", "shuffled"])
def test_sums_batch_by_batch_stay_below_the_closed_form_and_exceed_a_smaller_one(model):
    small = Constants(Fraction(1), Fraction(20), Fraction(20), Fraction(1), Fraction(1), Fraction(1))
    assert sums_against(model, Constants())[SUM] <= 1
    assert sums_against(model, small)[SUM] > 1


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("n", [700.0, 5e3, 1e6, 1e12])
def test_the_bound_on_one_over_epsilon0_holds_for_the_rule_itself(epsilon, n):
    assert n >= 16 * math.e * math.log(2 / 1e-6) - 70
    least = 1 + 8.3 * math.sqrt(math.log(4e6) / n) / epsilon
    assert 1 / closed_epsilon0(n, epsilon) <= least
    assert 1 / closed_epsilon0(n, 1e-3) > 1 + 2 * math.sqrt(math.log(4e6) / n) / 1e-3 or n > 1e6


@pytest.mark.parametrize("model", ["central", "reports"])
def test_the_width_in_the_sum_is_the_code_s(model):
    import numpy as np

    at = Size(1e6, 7, 3, 5)
    counts = np.full((1, 5), 20)
    situation = Situation(
        100.0, 10**6, 12, 3, 2.0, np.ones((1, 7), bool), np.array([3]), np.array([5]), counts, np.zeros((1, 5, 7)),
        np.zeros((1, 7)), np.array([2 / 0.5]), np.array([0.5]),
    )  # fmt: skip
    code = float(widths(model, "corrected", situation)[0, 0])
    own = regret_sum.central_gamma(at, 0.5) if model == "central" else regret_sum.reports_gamma(at, lambda power: 0.5)
    assert own(100.0) == pytest.approx(code, rel=1e-12)


def test_runs_agree_with_the_theorem_and_planted_rows_do_not():
    run = runs_against("central", "tight", Constants(), 100)
    sums = sums_against("central", Constants())
    assert agree([run], sums)
    for name, value in (("rounds", 202), ("batches ≤", 9), ("regret over its bound ≤", 1.01), ("p-value", 1e-9)):
        assert not agree([{**run, name: value}], sums)
    assert not agree([run], {**sums, SUM: 1.5})
