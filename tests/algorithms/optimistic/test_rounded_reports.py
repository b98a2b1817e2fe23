"""Rewards as bits: rounded by public thresholds, with the reward's mean, and proven to depend on one client each."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import dpaudit as dp
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.privacy_steps import OptimisticLocal
from algorithms.optimistic.rounded_reports import RoundedReports
from algorithms.rewards import SealedRewards, Sequence


def test_bits_of_each_round_have_the_law_of_the_sums():
    pulls = Pulls(np.zeros(1, np.int64), np.zeros((1, 1), np.int64), np.full((1, 1), 4000), None)
    values = Sequence(np.tile([0.5, -1.0, 1.0, -0.5], 1000))
    with dp.simulate(4, every_report=True) as channel:
        estimate = OptimisticLocal(Fraction(20)).statistic(channel, values, pulls, 1, dp.RandomizedResponse(20))
    assert abs(float(estimate[0])) < 5 * math.sqrt(2000 * 0.75)
    bits = channel.events[0].query.reshape(1000, 4)
    assert (bits[:, 1] == 0).all()
    assert (bits[:, 2] == 1).all()
    assert 0.65 < bits[:, 0].mean() < 0.85


def test_sealed_bits_are_proven_to_move_by_one_with_their_own_round_only():
    pulls = Pulls(np.array([3]), np.zeros((1, 1), np.int64), np.array([[5]]), None)
    rewards = SealedRewards(Sequence(np.linspace(-1, 1, 20)))
    with dp.simulate(1, every_report=True) as channel:
        records = RoundedReports(rewards, pulls, channel.rng)
        channel.reports("bits", records, dp.RandomizedResponse(1), sensitivity=1)
    (event,) = channel.events
    assert event.derived == 1
    assert event.cohort.intervals == ((3, 8),)
    assert not channel.untraced
