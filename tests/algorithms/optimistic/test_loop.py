"""The optimistic loop: rounds, stages, the unreleased last batch, regret, and bounds that hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.optimistic.loop import Optimism, Setting, run
from algorithms.optimistic.privacy_steps import OptimisticCentral, OptimisticLocal, OptimisticShuffled
from algorithms.rewards import ConstantExceptOne, SealedRewards, Stochastic

STEPS = (OptimisticCentral(Fraction(1)), OptimisticLocal(Fraction(1)), OptimisticShuffled(Fraction(1), Fraction(1, 10**6)))
names = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)


@names
def test_every_round_is_played_once_and_released_at_most_once(step):
    actions, _ = random_instance(np.random.default_rng(3), 4, 2)
    with dp.simulate(5) as channel:
        played = run(Setting(actions, 1000), step, SealedRewards(ConstantExceptOne(0.5, 7, -1.0)), channel)
    rounds = [t for event in channel.events for start, stop in event.cohort.intervals for t in range(start, stop)]
    assert played.pulls.sum() == 1000
    assert rounds == list(range(len(rounds))), "batches follow each other and share no round"
    assert len(channel.events) in (played.batches, played.batches - 1)


@names
def test_a_horizon_below_the_first_batch_releases_nothing(step):
    actions, _ = random_instance(np.random.default_rng(3), 4, 2)
    with dp.simulate(5) as channel:
        played = run(Setting(actions, 19), step, ConstantExceptOne(0.5, 7, -1.0), channel)
    assert not channel.events
    assert played.pulls.sum() == 19


@pytest.mark.parametrize(("step", "most"), list(zip(STEPS, (200, 1000, 340), strict=True)), ids=[step.name for step in STEPS])
def test_mean_regret_over_random_instances(step, most):
    """500 instances, seed 1; the standard error is about 6 for central, 11 for shuffled and 55 for local."""
    rng = np.random.default_rng(1)
    actions, thetas = random_instance(rng, 10, 2, instances=500)
    means = np.einsum("gkd,gd->gk", actions, thetas)
    with dp.simulate(1, trials=500) as channel:
        played = run(Setting(actions, 10**6), step, Stochastic(means, rng), channel)
    assert (played.pulls.sum(axis=1) == 10**6).all()
    assert played.regret(means).mean() <= most


@names
def test_bounds_hold_all_the_time_and_narrow(step):
    """200 runs of 3000 rounds: a miss has probability 1/3000 in each run, so one or more in all with at most 7 %; seed fixed."""
    rng = np.random.default_rng(4)
    actions, thetas = random_instance(rng, 5, 3, instances=200)
    actions = np.concatenate([actions * rng.uniform(0.2, 1, (200, 5, 1)), np.zeros((200, 1, 3))], axis=1)
    means = np.einsum("gkd,gd->gk", actions, thetas)
    loop, rewards = Optimism(Setting(actions, 3000), step, 200), Stochastic(means, rng)
    misses, narrow = 0, 0
    with dp.simulate(2, trials=200) as channel:
        while (chosen := loop.choose(channel.rng)) is not None:
            lower, upper = loop.bounds()
            mean = means[loop.known.trial]
            misses += int(((mean < lower) | (mean > upper)).any(axis=1).sum())
            narrow += int((upper - lower < 0.5 * np.maximum(2 * loop.pairs.norms, 1e-12)).sum())
            action, length = chosen
            loop.learn(action, length, _statistic(loop, action, length, rewards, channel))
    assert misses == 0
    assert narrow > 100


def _statistic(loop, action, length, rewards, channel):
    from algorithms.optimistic import loop as module

    return module._statistic(loop, action, length, rewards, channel, False)
