"""Shariff and Sheffet's tree: its noise, its leaves, what it learns."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from algorithms.baselines.linear.shariff_sheffet import ShariffSheffet
from algorithms.baselines.registry import make_baseline
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import SealedRewards, Sequence
from dpaudit.deployment import simulate
from dpaudit.ledger import MemoryLedger

SYSTEM = ShariffSheffet(Fraction(1), Fraction(1, 10**6), 2000, 2)


@pytest.mark.parametrize("horizon", [3, 16, 40, 2000, 10**6])
def test_the_stream_has_a_leaf_for_every_block_that_is_released(horizon):
    subject, ledger = make_baseline("shariff-sheffet", 1, None, horizon, (3, 2), "printed"), MemoryLedger(kind="simulated")
    with simulate(1, trials=2) as channel:
        blocks = subject.evaluate(channel, np.random.default_rng(1))["batches"]
    system = ShariffSheffet(Fraction(1), Fraction(1, 10**6), horizon, 2)
    assert blocks - 1 <= system.leaves <= max(1, blocks)
    assert 2 ** (system.levels - 2) < system.leaves <= 2 ** (system.levels - 1) or system.leaves == system.levels == 1
    with simulate(1, ledger=ledger) as channel:
        system.opened(channel)
    assert [release.leaves for release in ledger.releases()] == [system.leaves]


def test_noise_and_shift_at_known_values():
    assert math.isclose(SYSTEM.sigma, 8 * math.sqrt(SYSTEM.levels) * math.log(4e6))
    ceiling = SYSTEM.sigma * math.sqrt(2 * SYSTEM.levels) * (4 * math.sqrt(2) + 2 * math.log(4000))
    assert np.allclose(SYSTEM.shift(np.array([0, 500])), 2 * ceiling)


def test_a_run_and_its_trials_release_the_same_running_sums_of_vectors():
    """ε so large that noise is below the tolerance."""
    system, values = ShariffSheffet(Fraction(2**10), Fraction(1, 2), 2000, 2), np.linspace(-1, 1, 2000)
    points, rewards = np.array([0.6, -0.8]), Sequence(values)
    sums = np.cumsum([rewards.values[:1000].sum(), rewards.values[1000:].sum()])
    for trials, data in ((None, SealedRewards(rewards)), (3, rewards)):
        rows = 1 if trials is None else trials
        with simulate(1, trials=trials) as channel:
            run = system.opened(channel)
            for block, total in enumerate(sums):
                state = None if trials is None else np.zeros(rows, int)
                pulls = Pulls(np.array([1000 * block]), np.zeros((1, 1), int), np.full((1, 1), 1000), state)
                vector = run.statistic(channel, data, pulls, block + 1, np.tile(points, (rows, 1)))
                assert vector.shape == (rows, 2)
                assert np.abs(vector - total * points).max() < 2


def test_the_matrix_is_a_running_sum_with_symmetric_noise_of_the_declared_size():
    trials, rng = 4000, np.random.default_rng(2)
    policy = SYSTEM.policy(np.tile([[0.6, 0.8]], (trials, 1, 1)), 2000)
    for _ in range(3):  # after three leaves: a sum of two leaves and one of one
        policy.learn(np.zeros(trials, int), np.full(trials, 100), np.zeros((trials, 2)), rng)
    noise = policy.matrix - 300 * np.outer([0.6, 0.8], [0.6, 0.8])
    assert np.allclose(noise, np.swapaxes(noise, 1, 2))
    for entry, share in (((0, 0), 2), ((0, 1), 1), ((1, 1), 2)):
        variance = noise[:, entry[0], entry[1]].var() / (2 * SYSTEM.sigma**2)
        assert abs(variance / share - 1) < 5 * math.sqrt(2 / trials)
