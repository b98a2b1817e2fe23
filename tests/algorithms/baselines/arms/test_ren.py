"""LDP-UCB-B: the index, and blocks of a quarter of an arm's pulls."""

from __future__ import annotations

import math

import numpy as np

from algorithms.baselines.arms.ren import ArmUcb


def test_every_arm_is_played_first_and_then_the_one_with_the_largest_index():
    policy, rng = ArmUcb(2.0, 1, 2), np.random.default_rng(1)
    for arm in range(2):
        action, length = policy.choose(rng)
        assert (action.item(), length.item()) == (arm, 16)
        policy.learn(action, length, np.array([0.0]), rng)
    policy.counts[:], policy.sums[:] = [[80, 320]], [[0.0, 320.0]]
    bonus = [4 * math.sqrt(2 * math.log(400) / n) for n in (80, 320)]
    best = int(bonus[1] + 1.0 > bonus[0])
    action, length = policy.choose(rng)
    assert (action.item(), length.item()) == (best, (80, 320)[best] // 4)
