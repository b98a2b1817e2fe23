"""Algorithm 1's privacy step: the law of what the server releases, what it declares, and what replay sees.

Error rate 10^-4 per statistical test, fixed seeds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from algorithms import central, nonprivate
from algorithms.elimination.central import Central, NonPrivate
from algorithms.elimination.loop import run
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.setting import Setting
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence
from dpaudit.channel import PathChanged
from dpaudit.claims import SensitivityError
from dpaudit.ledger import Cohort, MemoryLedger

ALPHA = 1e-4
CONSTANT = ConstantExceptOne(1.0, 2, -1.0)


def pulls(trials=None):
    return Pulls(np.array([0]), np.array([[1, 0]]), np.array([[5, 3]]), None if trials is None else np.zeros(trials, int))


def noise_of(step, trials, seed=1):
    with dp.simulate(seed, trials=trials) as channel:
        noisy = step.statistic(channel, CONSTANT, pulls(trials), 1, step.terms(np.array([[5, 3]]))[2][0])
    return (noisy - [3.0, 3.0]).ravel()


@pytest.mark.parametrize(("calibration", "scale"), [("printed", 2.0), ("corrected", 4.0), ("tight", 4.0)])
def test_each_sum_gets_laplace_noise_of_the_stated_scale(calibration, scale):
    """ε = ½: Lap(1/ε) as printed, Lap(2/ε) else. The twin is half that noise. The grid, 2^-20, is far below what is seen."""
    noise = noise_of(Central(Fraction(1, 2), calibration), 100_000)
    assert stats.kstest(noise, "laplace", (0, scale)).pvalue > ALPHA
    assert stats.kstest(noise, "laplace", (0, scale / 2)).pvalue < ALPHA


def test_the_two_sums_of_a_batch_get_independent_noise():
    noise = noise_of(Central(Fraction(1)), 100_000).reshape(-1, 2)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 4 / np.sqrt(100_000)
    assert stats.kstest(noise.sum(axis=1), "laplace", (0, 4.0)).pvalue < ALPHA  # one noise for both would look like this


def test_the_reward_range_is_the_sensitivity():
    assert Central(Fraction(1), "tight", Fraction(1)).sensitivity == 1
    assert Central(Fraction(1), "printed", Fraction(5)).sensitivity == 1  # as printed, whatever the range
    assert Central(Fraction(1, 3), "corrected").terms(np.ones((2, 3)))[2] == [Fraction(6)] * 2


def test_the_release_names_the_rounds_of_its_batch():
    with dp.simulate(1) as channel:
        Central(Fraction(1)).statistic(channel, CONSTANT, pulls(), 1, Fraction(2))
    assert channel.events[0].cohort == Cohort.of(range(8))


def test_the_non_private_step_shows_the_sums_themselves():
    with dp.simulate(1) as channel:
        sums = NonPrivate().statistic(channel, CONSTANT, pulls(), 1, None)
    assert sums.tolist() == [3.0, 3.0]
    assert not channel.events


@pytest.mark.parametrize("calibration", ["printed", "corrected", "tight"])
def test_only_the_printed_sensitivity_is_caught(calibration):
    subject = central(epsilon=1, horizon=2000, calibration=calibration)
    with dp.simulate(1) as channel:
        subject.run(SealedRewards(CONSTANT), channel)
    rules = {finding.rule for finding in channel.findings}
    assert rules == ({"DPA003"} if calibration == "printed" else set())
    assert not channel.untraced


def test_a_live_door_refuses_the_printed_sensitivity():
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel, pytest.raises(SensitivityError):
        central(epsilon=1, horizon=200, calibration="printed").run(SealedRewards(CONSTANT), channel)


def test_a_live_run_within_its_budget_completes():
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget="1") as channel:
        play = central(epsilon=1, horizon=200).run(SealedRewards(CONSTANT), channel)
    assert play.pulls.sum() == 200
    assert dp.account(ledger).epsilon == 1


def others(horizon):
    rng = np.random.default_rng(2)
    return [ConstantExceptOne(-1.0, 0, 1.0), ConstantExceptOne(0.0, 0, 0.0), Sequence(rng.choice([-1.0, 1.0], horizon))]


@pytest.mark.parametrize("calibration", ["printed", "corrected", "tight"])
@pytest.mark.parametrize("trials", [None, 30])
def test_with_outputs_pinned_any_data_is_played_alike(calibration, trials):
    subject = central(epsilon=1, horizon=3000, calibration=calibration)
    with dp.simulate(3, trials=trials) as channel:
        play = subject.run(CONSTANT, channel)
    for data in others(3000):
        with dp.replay(channel) as pinned:
            again = subject.run(data, pinned)
        assert (again.plays == play.plays).all()
        assert (again.pulls == play.pulls).all()
        assert (pinned.events[-1].query != channel.events[-1].query).any()  # the data did differ


def test_a_path_that_the_data_decides_is_noticed():
    """The twin: a step whose release depends on the data in its shape."""

    class Leaky(Central):
        def statistic(self, channel, rewards, pulls, batch, scale):
            if np.mean(pulls.sums(rewards)) < 0:
                channel.release("more", 0.0, dp.Laplace(scale), sensitivity=2)
            return super().statistic(channel, rewards, pulls, batch, scale)

    setting = Setting(np.eye(2), 1000)
    with dp.simulate(1) as channel:
        run(setting, Leaky(Fraction(1)), CONSTANT, channel)
    with dp.replay(channel) as pinned, pytest.raises(PathChanged):
        run(setting, Leaky(Fraction(1)), ConstantExceptOne(-1.0, 0, -1.0), pinned)


def test_what_is_not_private_is_decided_by_the_data():
    subject = nonprivate(horizon=3000, actions=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]))
    plays = []
    for data in (ConstantExceptOne(1.0, 0, 1.0), Sequence(np.random.default_rng(0).choice([-1.0, 1.0], 3000))):
        with dp.simulate(1) as channel:
            plays.append(subject.run(data, channel).plays.tolist())
    assert plays[0] != plays[1]
