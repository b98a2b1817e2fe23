"""Who is pulled when. Error rate 10^-4 per statistical test, fixed seeds."""

from __future__ import annotations

import numpy as np

from algorithms.elimination.pulls import Pulls
from algorithms.rewards import Sequence, Stochastic

ALPHA = 1e-4


def two_states(state):
    return Pulls(np.array([10, 30]), np.array([[2, 0], [1, 1]]), np.array([[4, 3], [5, 0]]), state)


def test_the_arms_take_turns_and_every_round_of_the_batch_is_used_once():
    begin, stop = two_states(None).rounds()
    assert begin.tolist() == [[10, 14], [30, 35]]
    assert stop.tolist() == [[14, 17], [35, 35]]


def test_the_cohort_of_one_run_is_its_rounds_and_trials_have_none():
    assert two_states(None).cohort() == range(10, 17)
    assert two_states(np.array([0, 1])).cohort() is None


def test_padding_sums_to_nothing():
    data = Sequence(np.linspace(-1, 1, 40))
    sums = two_states(np.array([0, 1, 1])).sums(data)
    assert sums[1].tolist() == sums[2].tolist() == [data.values[30:35].sum(), 0.0]


def test_one_run_and_trials_agree_on_fixed_rewards():
    data = Sequence(np.random.default_rng(1).uniform(-1, 1, 40))
    assert two_states(None).sums(data).tolist() == two_states(np.zeros(5, int)).sums(data)[3].tolist()


def test_few_states_and_many_states_draw_one_law(same_frequencies):
    """Few states take a scalar binomial per column, many an array of laws; the trials of state 1 must not differ."""
    means, state = np.array([0.2, -0.4, 0.7]), np.repeat([0, 1], [3000, 3000])
    fast = two_states(state).sums(Stochastic(means, np.random.default_rng(2)))
    many = Pulls(*(np.repeat(x, 3000, axis=0) for x in ([10, 30], [[2, 0], [1, 1]], [[4, 3], [5, 0]])), np.arange(6000))
    slow = many.sums(Stochastic(means, np.random.default_rng(3)))
    for rows in (slice(0, 3000), slice(3000, None)):
        assert same_frequencies(fast[rows].tolist(), slow[rows].tolist()) > ALPHA
    twin = two_states(state).sums(Stochastic(means - 0.1, np.random.default_rng(2)))
    assert same_frequencies(twin[:3000].tolist(), slow[:3000].tolist()) < ALPHA
