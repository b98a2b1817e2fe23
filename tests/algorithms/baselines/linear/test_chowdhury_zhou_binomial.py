"""Chowdhury and Zhou's vector sums: coins, estimates without bias, and a certificate that halved noise loses."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms.baselines.linear.chowdhury_zhou_binomial import ChowdhuryZhouBinomial
from algorithms.baselines.registry import chowdhury_zhou_binomial
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import Stochastic
from dpaudit.claims import InvalidValue

SYSTEM = ChowdhuryZhouBinomial(Fraction(1), Fraction(1, 10**6), 10**5, 2)


def test_coins_are_those_of_the_formula_for_every_batch():
    assert SYSTEM.batch == 1000
    assert int(SYSTEM.noise.coins) == 2 * math.ceil(22_500 * math.log(20 * 10**6) ** 2)
    assert SYSTEM.noise.failure == Fraction(1, 2 * 10**6)
    assert math.isclose(SYSTEM.size * math.sqrt(SYSTEM.batch), math.sqrt(SYSTEM.noise.coins))
    assert int(replace(SYSTEM, epsilon=Fraction(1, 2)).noise.coins) == pytest.approx(4 * int(SYSTEM.noise.coins), rel=1e-6)


@pytest.mark.parametrize("every", [False, True], ids=["by law", "every bit"])
def test_a_statistic_is_the_sum_of_each_coordinate_and_the_noise_of_its_coins(every):
    # 600 trials, six standard errors of mean and spread: one seed in 10^8 fails; the twin has the mean of another action
    trials, n, point = 600, 1000, np.array([0.6, -0.3])
    rewards = Stochastic(np.full((trials, 1), 0.5), np.random.default_rng(3))
    pulls = Pulls(np.zeros(1, int), np.zeros((1, 1), int), np.full((1, 1), n), np.zeros(trials, int))
    with dp.simulate(5, trials=trials, every_report=every) as channel:
        drawn = SYSTEM.statistic(channel, rewards, pulls, 1, np.tile(point, (trials, 1)))
    spread = math.sqrt(float(SYSTEM.noise.coins) + n)
    error = 6 * spread / math.sqrt(trials)
    assert drawn.shape == (trials, 2)
    assert np.abs(drawn.mean(axis=0) - n * 0.5 * point).max() < error
    assert drawn.std(axis=0) == pytest.approx([spread] * 2, rel=6 / math.sqrt(2 * trials))
    assert np.abs(drawn.mean(axis=0) - 20 * n * point).max() > error


def test_it_is_certified_with_far_more_coins_than_the_claim_needs_and_not_with_far_fewer(monkeypatch):
    subject = chowdhury_zhou_binomial(epsilon=1, horizon=40, actions=[[1.0, 0.0], [0.0, 1.0]])
    verdict = dp.audit(subject, seed=1, samples=100)
    assert str(verdict.verdict) == "certified"
    assert verdict.upper is not None
    assert verdict.upper.sensitivity == "proven"
    fewer = property(lambda self: dp.Binomial(60, Fraction(1, 2 * 10**6)))
    monkeypatch.setattr(ChowdhuryZhouBinomial, "noise", fewer)
    weak = dp.audit(chowdhury_zhou_binomial(epsilon=1, horizon=40, actions=[[1.0, 0.0], [0.0, 1.0]]), seed=1, samples=100)
    assert str(weak.verdict) == "unproven"  # public coins round the rewards: no event is exact, and 100 runs show too little
    assert weak.upper is not None
    assert weak.upper.epsilon > 1


def test_other_calibrations_are_refused():
    with pytest.raises(InvalidValue, match="calibration"):
        chowdhury_zhou_binomial(epsilon=1, horizon=40, calibration="tight")
