"""Rewards: sums against their own entries, and stochastic sums against the exact binomial law.

Statistical tests here have error rate 10^-4 each and fixed seeds; each has a twin, 2 % away, that must fail.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence, Stochastic, Table
from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.ledger import Cohort
from dpaudit.noise import from_units

ALPHA = 1e-4
GRID = 2.0**-20


def fixed_forms():
    rng = np.random.default_rng(3)
    return {
        "sequence": Sequence(rng.uniform(-1, 1, 40)),
        "table": Table(rng.uniform(-1, 1, (40, 3))),
        "constant": ConstantExceptOne(0.25, 7, -1.0),
        "zero to one": Sequence(rng.uniform(0, 1, 40), 0.0, 1.0),
    }


@pytest.mark.parametrize("name", fixed_forms())
def test_a_sum_is_the_exact_sum_of_its_rounds(name):
    rewards = fixed_forms()[name]
    start, stop = np.array([0, 5, 20, 40]), np.array([5, 20, 40, 40])
    action = np.array([0, 2, 1, 0])
    each = [rewards.each((a, b), np.full(b - a, k)) for a, b, k in zip(start, stop, action, strict=True)]
    assert rewards.sum((start, stop), action).tolist() == [e.sum() for e in each]


@pytest.mark.parametrize("name", fixed_forms())
def test_replacing_one_round_changes_that_round_alone(name):
    rewards = fixed_forms()[name]
    other = rewards.replace(7, rewards.high)
    before, after = (r.each((0, 40), np.zeros(40, int)) for r in (rewards, other))
    assert np.flatnonzero(before != after).tolist() == [7]
    assert after[7] == rewards.high


def test_rewards_are_clipped_and_rounded_to_the_grid():
    rewards = Sequence(np.array([5.0, -5.0, 0.1, np.pi / 10]))
    assert rewards.values[:2].tolist() == [1.0, -1.0]
    assert (rewards.values / GRID == np.round(rewards.values / GRID)).all()
    assert np.abs(rewards.values[2:] - [0.1, np.pi / 10]).max() <= GRID / 2


def test_ranges_and_pairs_mean_the_same_rounds():
    rewards = fixed_forms()["sequence"]
    assert rewards.sum(range(3, 9), 0) == rewards.sum((3, 9), 0)


def test_a_second_exception_is_refused():
    with pytest.raises(InvalidValue, match="one exception"):
        ConstantExceptOne(0.0, 3, 1.0).replace(4, 1.0)
    assert ConstantExceptOne(0.0, 3, 0.0).replace(4, 1.0).t == 4


def test_random_rewards_have_no_round_to_replace():
    with pytest.raises(InvalidValue):
        Stochastic(np.array([0.5]), np.random.default_rng(0)).replace(0, 1.0)


def binomial_law(n, mean, low=-1.0, high=1.0):
    p = (mean - low) / (high - low)
    hits = np.arange(n + 1)
    return dict(zip((n * low + hits * (high - low)).tolist(), stats.binom.pmf(hits, n, p), strict=True))


def draw(way, mean, n, size, low=-1.0, high=1.0, seed=5):
    env = Stochastic(np.array([0.9, mean]), np.random.default_rng(seed), low, high)
    if way == "sum":
        return env.sum((np.zeros(size, int), np.full(size, n)), np.ones(size, int))
    if way == "shared":
        return env.shared_sums(np.array([3, n]), np.array([0, 1]), size)[:, 1]
    return np.array([env.each((0, n), np.ones(n, int)).sum() for _ in range(size)])


@pytest.mark.parametrize(("way", "size"), [("sum", 200_000), ("shared", 200_000), ("each", 20_000)])
@pytest.mark.parametrize(("low", "high", "mean"), [(-1.0, 1.0, 0.3), (0.0, 1.0, 0.3)])
def test_sums_of_random_rewards_are_binomial(way, size, low, high, mean, fits):
    sums = draw(way, mean, 20, size, low, high)
    assert fits(sums, binomial_law(20, mean, low, high)) > ALPHA
    shifted = mean + 0.02 * (high - low)
    assert fits(sums, binomial_law(20, shifted, low, high)) < ALPHA  # twin: a mean 2 % of the range away


def test_every_trial_has_its_own_instance_after_selection():
    means = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])  # no randomness left: sums are ±n
    env = Stochastic(means, np.random.default_rng(0)).at(np.array([2, 1, 0])).at(np.array([1, 2]))
    action = np.array([[0, 1], [0, 1]])
    assert env.sum((np.zeros((2, 2), int), np.full((2, 2), 4)), action).tolist() == [[-4.0, 4.0], [4.0, -4.0]]


def test_sealed_sums_cannot_be_read_and_pass_the_door_unchanged():
    plain = fixed_forms()["sequence"]
    rounds = (np.array([0, 10]), np.array([10, 25]))
    sealed = SealedRewards(plain).sum(rounds, np.array([0, 1]))
    with pytest.raises(DpauditError, match="DPA002"):
        float(sealed[0])
    with dp.simulate(1) as channel:
        channel.release("sums", sealed, dp.Laplace(2), sensitivity=2)
    assert (from_units(channel.events[0].query) == plain.sum(rounds, np.array([0, 1]))).all()
    assert channel.events[0].derived == 2
    assert channel.events[0].cohort == Cohort.of(range(25))
