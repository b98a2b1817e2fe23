"""The registered optimistic bandits: certified as they are, refuted with half the noise, and no other calibration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms import optimistic_central, optimistic_local, optimistic_shuffled
from algorithms.optimistic.bandit_subject import optimistic_subject
from algorithms.optimistic.loop import Setting
from algorithms.optimistic.privacy_steps import OptimisticCentral, OptimisticLocal
from algorithms.optimistic.registry import make_setting
from dpaudit.claims import InvalidValue

FACTORIES = (optimistic_central, optimistic_local, optimistic_shuffled)


@pytest.mark.parametrize("make", FACTORIES, ids=lambda make: make.__name__)
def test_each_is_certified_behind_its_door(make):
    verdict = dp.audit(make(epsilon=1, horizon=600, actions=(3, 2)), seed=1, samples=500)
    assert verdict.verdict == "certified"
    assert verdict.upper.epsilon <= 1
    assert verdict.lower.epsilon <= 1


@pytest.mark.parametrize("step", [OptimisticCentral(Fraction(2)), OptimisticLocal(Fraction(2))], ids=lambda step: step.name)
def test_half_the_noise_is_refuted(step):
    setting = Setting(np.array([[1.0, 0.0], [0.0, 1.0]]), 600)
    twin = optimistic_subject("twin", setting, step, dp.Claim(1), notice="", basis="none")
    assert dp.audit(twin, seed=1, samples=500).verdict == "refuted"


@pytest.mark.parametrize("make", FACTORIES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("calibration", ["tight", "printed", "corrected"])
def test_there_is_no_other_calibration(make, calibration):
    with pytest.raises(InvalidValue, match="calibration"):
        make(epsilon=1, horizon=600, calibration=calibration)


@pytest.mark.parametrize(
    "wrong", [{"delta": 0}, {"epsilon": 0}, {"horizon": 2}, {"horizon": 2**40}, {"actions": np.array([[2.0, 0.0]])}], ids=str
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidValue):
        optimistic_shuffled(**{"epsilon": 1, "horizon": 600, **wrong})


def test_actions_may_be_short_or_zero():
    setting, _ = make_setting(1000, np.array([[0.0, 0.0], [0.5, 0.0], [0.0, -1.0]]))
    subject = optimistic_central(epsilon=1, horizon=1000, actions=setting.actions)
    assert subject.evaluate is not None
    with dp.simulate(1) as channel:
        assert subject.evaluate(channel, np.random.default_rng(1))["regret"] <= 2000
