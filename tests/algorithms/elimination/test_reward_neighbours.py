"""Neighbouring rewards that audits use: they differ in one round, cover the range, and sit in rounds that a batch plays."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms import central, local
from algorithms.elimination.central import Central
from algorithms.elimination.local import Local
from algorithms.elimination.reward_neighbours import RewardSequence
from algorithms.elimination.setting import Setting
from algorithms.rewards import SealedRewards, Sequence

STEPS = {"central": Central(Fraction(1)), "local": Local(Fraction(1))}


def relation(step="central", horizon=3000, low=-1.0, high=1.0):
    actions = np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.8]])
    return RewardSequence(Setting(actions, horizon, low=low, high=high), STEPS[step])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0)])
def test_neighbours_differ_in_one_round_inside_the_range(step, low, high):
    pairs = relation(step, low=low, high=high).pairs(np.random.default_rng(0))
    assert len(pairs) >= 4
    for one, other in pairs:
        a, b = (data.each((0, 3000), np.zeros(3000, int)) for data in (one, other))
        assert (a != b).sum() == 1
        assert min(a.min(), b.min()) >= low
        assert max(a.max(), b.max()) <= high


@pytest.mark.parametrize("step", STEPS)
def test_some_pair_moves_by_the_whole_range(step):
    pairs = relation(step).pairs(np.random.default_rng(0))
    assert max(abs(one.value - other.value) for one, other in pairs) == 2.0


@pytest.mark.parametrize("horizon", [100, 3000, 10**6, 4 * 10**9])
def test_one_of_the_rounds_lies_in_the_last_batch_and_one_in_the_first(horizon):
    """Played without eliminations (all rewards 0), the batches of this setting cover both rounds."""
    subject = central(epsilon=1, horizon=horizon, calibration="printed")
    pairs = subject.neighbours.pairs(np.random.default_rng(0))
    with dp.simulate(1) as channel:
        subject.run(subject.neighbours.others(np.random.default_rng(0))[0], channel)
    cohorts = [event.cohort for event in channel.events]
    rounds = {one.t for one, _ in pairs}
    assert any(t in cohorts[0] for t in rounds)
    assert any(t in cohorts[-1] for t in rounds)


def test_far_data_differs_in_many_rounds_and_stays_in_the_range():
    calm, wild = relation(low=0.0).others(np.random.default_rng(0))
    assert calm.base == calm.value == 0.5
    assert isinstance(wild, Sequence)
    assert set(wild.values.tolist()) == {0.0, 1.0}
    assert len(wild.values) == 3000


def test_far_data_of_a_huge_horizon_is_not_written_out():
    assert len(relation(horizon=4 * 10**9).others(np.random.default_rng(0))) == 1


def test_sealing_keeps_the_data():
    data = relation().pairs(np.random.default_rng(0))[0][0]
    sealed = relation().seal(data)
    assert isinstance(sealed, SealedRewards)
    assert sealed.rewards is data


def test_the_relation_is_definition_1():
    assert relation().name == local(epsilon=1, horizon=100).neighbours.name == "reward-sequence"
