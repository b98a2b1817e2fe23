"""Gaussian reports: the sum of n clients has the noise of n, scaled by the action's norm."""

from __future__ import annotations

import numpy as np

from algorithms.baselines.linear.parts.gaussian_reports import sums_of_reports
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import ConstantExceptOne
from dpaudit.deployment import simulate

TRIALS = 4000


def test_the_sum_has_the_variance_of_all_reports():
    rows = np.arange(TRIALS)
    pulls = Pulls(np.zeros(TRIALS, int), np.zeros((TRIALS, 1), int), np.full((TRIALS, 1), 25), rows)
    points = np.tile([0.5, 0.0], (TRIALS, 1))
    with simulate(3, trials=TRIALS) as channel:
        sums = sums_of_reports(channel, ConstantExceptOne(1.0, 0, 1.0), pulls, 1, 2.0, points, "server")
    assert abs(sums.mean() - 25) < 5 * 20 / np.sqrt(TRIALS)
    assert abs(sums.var() / (25 * 16) - 1) < 5 * np.sqrt(2 / TRIALS)  # (σ/|x|)² = 16 for each of 25 reports
