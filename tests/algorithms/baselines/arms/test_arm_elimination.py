"""Elimination of arms: epochs of equal pulls, clearly worse arms go, the last one is played to the end."""

from __future__ import annotations

import numpy as np

from algorithms.baselines.arms.arm_elimination import ArmElimination


class Fixed:
    """Ten pulls and a gap of a half in every epoch."""

    def pulls(self, epoch, arms):
        return np.full(len(epoch), 10)

    def gap(self, epoch, arms):
        return np.full(len(epoch), 0.5)


def test_worse_arms_are_dropped_at_the_end_of_an_epoch_in_each_trial():
    policy, rng = ArmElimination(Fixed(), 2, 3, 1000), np.random.default_rng(1)
    means = np.array([[0.9, 0.6, 0.1], [0.9, 0.8, 0.7]])
    for arm in range(3):
        action, length = policy.choose(rng)
        assert action.tolist() == [arm, arm]
        policy.learn(action, length, 10 * means[:, arm], rng)
    assert policy.active.tolist() == [[True, True, False], [True, True, True]]
    assert policy.epoch.tolist() == [2, 2]


def test_the_last_arm_is_played_beyond_any_horizon():
    policy, rng = ArmElimination(Fixed(), 1, 2, 1000), np.random.default_rng(1)
    for value in (9.0, -9.0):
        action, length = policy.choose(rng)
        policy.learn(action, length, np.array([value]), rng)
    action, length = policy.choose(rng)
    assert action.item() == 0
    assert length.item() > 1000
