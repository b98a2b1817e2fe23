"""Algorithm 2's privacy step: one noisy report per client; its sums by their own law. Error rate 10^-4 per test, fixed seeds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from algorithms import local
from algorithms.elimination.local import Local
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence
from dpaudit.ledger import Cohort
from dpaudit.noise import from_units

ALPHA = 1e-4
CONSTANT = ConstantExceptOne(1.0, 2, -1.0)
COUNTS = np.array([[40, 3]])


def statistic(step, trials, every_report, seed=1):
    batch = Pulls(np.array([0]), np.array([[1, 0]]), COUNTS, np.zeros(trials, int))
    with dp.simulate(seed, trials=trials, every_report=every_report) as channel:
        return step.statistic(channel, CONSTANT, batch, 1, step.terms(COUNTS)[2][0])


@pytest.mark.parametrize("arm", [0, 1])
def test_sums_by_their_own_law_are_sums_of_reports(arm):
    """O(1) draws of the sum against the sum of drawn reports; the twin has half the noise."""
    step, twin = Local(Fraction(1)), Local(Fraction(2))
    quick, drawn, half = (statistic(s, 60_000, every)[:, arm] for s, every in ((step, False), (step, True), (twin, False)))
    assert stats.ks_2samp(quick, drawn).pvalue > ALPHA
    assert stats.ks_2samp(half, drawn).pvalue < ALPHA


@pytest.mark.parametrize(("calibration", "scale"), [("printed", 2.0), ("corrected", 4.0), ("tight", 4.0)])
def test_sums_have_the_law_of_a_difference_of_two_gammas(calibration, scale):
    sums = statistic(Local(Fraction(1, 2), calibration), 60_000, False)
    rng = np.random.default_rng(9)
    for arm, (n, true) in enumerate(zip(COUNTS[0], (38.0, 3.0), strict=True)):
        gammas = rng.standard_gamma(n, (2, 60_000)) * scale
        assert stats.ks_2samp(sums[:, arm] - true, gammas[0] - gammas[1]).pvalue > ALPHA
        assert stats.ks_2samp(sums[:, arm] - true, (gammas[0] - gammas[1]) / 2).pvalue < ALPHA  # the twin


def test_each_client_sends_one_report_and_the_server_only_adds():
    batch = Pulls(np.array([0]), np.array([[1, 0]]), COUNTS, None)
    step = Local(Fraction(1))
    with dp.simulate(1, every_report=True) as channel:
        reports = step.clients(channel, CONSTANT, batch, 1, Fraction(2))
        sums = step.server(reports)
    values = from_units(channel.events[0].output)
    assert len(reports) == len(values) == 43
    assert sums.tolist() == [values[:40].sum(), values[40:].sum()]
    assert (values != 1.0).sum() >= 42  # no reward is sent as it is
    assert channel.events[0].cohort == Cohort.of(range(43))


@pytest.mark.parametrize("calibration", ["printed", "corrected", "tight"])
def test_only_the_printed_sensitivity_is_caught(calibration):
    with dp.simulate(1, every_report=True) as channel:
        local(epsilon=1, horizon=2000, calibration=calibration).run(SealedRewards(CONSTANT), channel)
    assert {finding.rule for finding in channel.findings} == ({"DPA003"} if calibration == "printed" else set())
    assert not channel.untraced


@pytest.mark.parametrize("calibration", ["printed", "corrected", "tight"])
@pytest.mark.parametrize("trials", [None, 10])
@pytest.mark.parametrize("every_report", [False, True])
def test_with_outputs_pinned_any_data_is_played_alike(calibration, trials, every_report):
    subject = local(epsilon=3, horizon=3000, calibration=calibration)
    with dp.simulate(3, trials=trials, every_report=every_report) as channel:
        play = subject.run(CONSTANT, channel)
    for data in (ConstantExceptOne(-1.0, 0, 1.0), Sequence(np.random.default_rng(2).choice([-1.0, 1.0], 3000))):
        with dp.replay(channel) as pinned:
            again = subject.run(data, pinned)
        assert (again.plays == play.plays).all()
        assert (again.pulls == play.pulls).all()
        assert (pinned.events[-1].query != channel.events[-1].query).any()
