"""Stochastic contexts: every context comes up as often as chance has it, and regret counts what was best in each."""

from __future__ import annotations

import numpy as np
import pytest

import dpaudit as dp
from algorithms.baselines.contexts import ContextPolicy
from algorithms.baselines.linear.oful import Oful
from algorithms.baselines.registry import SYSTEMS, make_baseline
from dpaudit.claims import InvalidValue

CONTEXTUAL = [name for name, row in SYSTEMS.items() if row.contextual]


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_each_plays_the_whole_horizon_with_contexts_alone_and_in_trials(name):
    subject = make_baseline(name, 1, None, 3000, (3, 2), "printed", 4)
    with dp.simulate(1, trials=5) as channel:
        assert 0 <= subject.evaluate(channel, np.random.default_rng(1))["regret"] <= 6000
    with dp.simulate(1) as channel:
        assert 0 <= subject.evaluate(channel, np.random.default_rng(1))["regret"] <= 6000
    assert "4 sets" in subject.notes["contexts"]


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in CONTEXTUAL])
def test_systems_of_arms_refuse_contexts(name):
    with pytest.raises(InvalidValue, match="contexts"):
        make_baseline(name, 1, None, 3000, (3, 2), "printed", 4)


def test_a_look_has_an_action_for_each_context_and_rounds_as_chance_has_them():
    """Three contexts of two actions; the second of each looks better. Counts of a look are multinomial: 5σ."""
    actions = np.tile([[0.0, 0.5], [0.0, 1.0]] * 3, (200, 1, 1))
    inner = Oful(10**6).policy(actions, 10**6)
    inner.vector[:] = [0.0, 5.0]
    inner.length = lambda leverage: np.arange(9000, 9200)
    policy, rng = ContextPolicy(inner, 3), np.random.default_rng(1)
    blocks = [policy.choose(rng) for _ in range(3)]
    assert [np.unique(action).tolist() for action, _ in blocks] == [[1], [3], [5]]
    counts = np.array([length for _, length in blocks])
    assert (counts.sum(axis=0) == np.arange(9000, 9200)).all()
    assert np.abs(counts - 3033).max() < 5 * np.sqrt(9100 * 2 / 9) + 34
    assert counts.std() > 20


def test_regret_counts_what_was_best_in_each_context():
    """A policy that knows θ has no regret in any context, though contexts differ in their best mean."""
    subject = make_baseline("oful", 1, None, 20_000, None, "printed", 4)
    with dp.simulate(1, trials=50) as channel:
        varied = subject.evaluate(channel, np.random.default_rng(1))
    with dp.simulate(1, trials=50) as channel:
        fixed = make_baseline("oful", 1, None, 20_000, None, "printed").evaluate(channel, np.random.default_rng(1))
    assert 0 < varied["regret"] < fixed["regret"]  # variety explores for it; counting the best of all would add thousands
