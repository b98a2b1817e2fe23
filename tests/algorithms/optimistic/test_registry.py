"""The registered optimistic bandits: certified as they are, refuted with half the noise, and no other calibration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms import optimistic_central, optimistic_local, optimistic_shuffled
from algorithms.optimistic.bandit_subject import optimistic_subject
from algorithms.optimistic.loop import Optimism, Setting
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


@pytest.mark.parametrize("ball", ["1/2", 3])
def test_bounds_hold_for_parameters_in_another_ball(ball):
    """With |θ*| = min(B, 1): no interval misses a mean, at the proof's level, in 40 runs."""
    size = min(1.0, float(Fraction(ball)))
    setting = Setting(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.5, 0.5]]), 3000, ball=float(Fraction(ball)))
    theta = size * np.array([0.6, 0.8])
    loop, rng = Optimism(setting, OptimisticCentral(Fraction(1)), 40), np.random.default_rng(4)
    means = setting.actions @ theta
    with dp.simulate(4, trials=40) as channel:
        while (chosen := loop.choose(rng)) is not None:
            action, length = chosen
            sums = 2.0 * rng.binomial(length, (1 + means[action]) / 2) - length
            noisy = channel.at(loop.known.trial).release("sum", sums, dp.Laplace(2), sensitivity=2)
            loop.learn(action, length, noisy)
            low, high = loop.bounds()
            assert (low <= means + 1e-9).all()
            assert (high >= means - 1e-9).all()


def test_a_ball_that_is_too_small_is_noticed():
    """The twin: θ of norm 1 in a ball of a quarter leaves the bounds."""
    setting = Setting(np.array([[1.0, 0.0], [0.0, 1.0]]), 3000, ball=0.25)
    loop, rng = Optimism(setting, OptimisticCentral(Fraction(1)), 1), np.random.default_rng(4)
    loop.choose(rng)
    assert (loop.bounds()[1] < 0.3).all()


def test_a_ball_out_of_range_is_refused():
    with pytest.raises(InvalidValue, match="ball"):
        optimistic_central(epsilon=1, horizon=600, ball=0)
