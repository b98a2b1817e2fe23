"""Phased elimination: the pulls of a phase follow the design, actions 2ε_ℓ below the best go."""

from __future__ import annotations

import math

import numpy as np

from algorithms.baselines.linear.phased_elimination import PhasedElimination


def test_the_first_phase_pulls_by_design_and_drops_what_is_far_below():
    actions = np.array([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]])
    policy, rng = PhasedElimination(actions, 10**6), np.random.default_rng(1)
    least = 2 * 2 * math.log(3 * 2 * 10**6) * 4
    assert least * 0.99 <= policy.todo.sum() <= 2 * least + 3
    theta = np.array([0.9, 0.2])
    while policy.phase.item() == 1:
        action, length = policy.choose(rng)
        policy.learn(action, length, length * (actions[0, action] @ theta), rng)
    assert policy.active.tolist() == [[True, True, False]]  # means .9, .2 and −.9; 2ε_1 = 1


def test_a_zero_set_of_actions_is_played_to_the_end():
    policy = PhasedElimination(np.zeros((1, 2, 2)), 100)
    assert policy.choose(np.random.default_rng(1))[1].item() > 100
