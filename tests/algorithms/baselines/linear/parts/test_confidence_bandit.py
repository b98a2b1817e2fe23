"""LinUCB on noisy least squares: without noise, ridge regression; noise across an action has its size, and none along it."""

from __future__ import annotations

import numpy as np

from algorithms.baselines.linear.oful import GROWTH, Oful
from algorithms.baselines.linear.parts.confidence_bandit import along, noisy_shift, noisy_width, outer, symmetric_noise

RNG_SEED = 5


def test_the_index_is_that_of_ridge_regression():
    actions = np.array([[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]])
    system = Oful(1000)
    policy, rng = system.policy(actions, 1000), np.random.default_rng(RNG_SEED)
    for action, length, total in ((0, 5, 2.0), (1, 7, 6.0)):
        policy.learn(np.array([action]), np.array([length]), np.array([total]), rng)
    matrix, vector = np.diag([6.0, 8.0]), np.array([2.0, 6.0])
    inverse = np.linalg.inv(matrix)
    width = np.sqrt(2 * np.log(1000) + np.log(48.0)) + 1
    index = [a @ inverse @ vector + width * np.sqrt(a @ inverse @ a) for a in actions[0]]
    action, length = policy.choose(rng)
    assert action.item() == int(np.argmax(index))
    chosen = actions[0, action.item()]
    assert length.item() == np.ceil(GROWTH / (chosen @ inverse @ chosen))


def test_noise_across_an_action_is_orthogonal_to_it_and_of_the_declared_size():
    rng, points = np.random.default_rng(RNG_SEED), np.tile([0.6, 0.0, 0.3], (20_000, 1))
    noisy = along(points, np.full(20_000, 2.0), np.full(20_000, 3.0), rng) - 2 * points
    assert np.abs((noisy * points).sum(axis=1)).max() < 1e-9
    assert abs(noisy.var(axis=0).sum() / (2 * 9.0) - 1) < 0.05  # 5 sigma: two directions of variance 9, 20,000 draws


def test_symmetric_noise_is_symmetric_and_within_the_shift():
    noise = symmetric_noise(np.full(2000, 2.0), 4, np.random.default_rng(RNG_SEED))
    assert np.allclose(noise, np.swapaxes(noise, 1, 2))
    assert np.abs(np.linalg.eigvalsh(noise)).max() <= noisy_shift(np.array([2.0]), 4, 1000).item()


def test_widths_grow_with_noise_and_outer_counts_rounds():
    quiet, loud = (noisy_width(np.array([s]), np.array([1.0]), 2, 1000).item() for s in (1.0, 10.0))
    assert loud > quiet
    assert outer(np.array([[1.0, 2.0]]), np.array([3])).tolist() == [[[3.0, 6.0], [6.0, 12.0]]]
