"""Clients and the shuffler's secret assignment, against the enumeration of all permutations.

Error rate 10^-4 per statistical test, fixed seeds.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import dpaudit as dp
from algorithms.elimination.clients import BatchRecords
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.shuffled import Shuffler
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence
from dpaudit.channel import sum_by_tag
from dpaudit.claims import InvalidValue
from dpaudit.noise import from_units
from dpaudit.sealed import Sealed

ALPHA = 1e-4
GRID = Fraction(1, 2**20)
COUNTS = np.array([[2, 1, 1]])  # four clients, three arms
START = np.array([6])


def records(rewards, trials=None, shuffler=None):
    state = None if trials is None else np.zeros(trials, int)
    return BatchRecords(rewards, Pulls(START, np.array([[4, 0, 2]]), COUNTS, state), shuffler)


def enumerated(rewards):
    """Law of the sums per arm when client j plays the π(j)-th entry of (0, 0, 1, 2), over all 24 permutations π."""
    values = rewards.each((6, 10), np.zeros(4, int))
    slots = np.repeat([0, 1, 2], COUNTS[0])
    outcomes = Counter(tuple(np.bincount(slots[list(order)], values, 3).tolist()) for order in permutations(range(4)))
    return {outcome: count / 24 for outcome, count in outcomes.items()}


def codes(sums, law):
    """Outcomes as numbers, so that they can be counted; −1 for one that the enumeration does not know."""
    names = sorted(law)
    return np.array([names.index(tuple(row)) if tuple(row) in names else -1 for row in sums.tolist()])


def test_without_a_shuffler_rounds_go_to_the_arms_in_turn():
    batch = records(Sequence(np.linspace(-1, 1, 12)))
    assert batch.n == 4
    assert batch.tags.tolist() == [0, 0, 1, 2]
    assert batch.counts.tolist() == [2, 1, 1]
    by_tag = sum_by_tag(batch.units(GRID), batch.tags, 3)
    assert by_tag.tolist() == batch.sum_units(GRID).tolist()


def test_the_shuffler_assigns_every_action_exactly_as_often_as_planned():
    with dp.simulate(4) as channel:
        assigned = [records(Sequence(np.zeros(12)), shuffler=Shuffler(channel)).tags for _ in range(200)]
    assert all(np.bincount(tags).tolist() == [2, 1, 1] for tags in assigned)
    assert len({tuple(tags) for tags in assigned}) == 12  # 4!/2! assignments


def test_one_run_sums_by_the_real_permutation(fits):
    data = ConstantExceptOne(1.0, 7, -1.0)
    law = enumerated(data)
    with dp.simulate(5) as channel:
        sums = np.array([records(data, shuffler=Shuffler(channel)).sum_units(GRID) for _ in range(20_000)])
    assert fits(codes(from_units(sums), law), dict(enumerate(law[k] for k in sorted(law)))) > ALPHA


@pytest.mark.parametrize("exception", [7, 3])  # in this batch, in an earlier one
@pytest.mark.parametrize("asked", ["sums", "values"])
def test_the_hidden_slot_of_trials_has_the_law_of_a_real_permutation(exception, asked, fits):
    data = ConstantExceptOne(1.0, exception, -1.0)
    law = enumerated(data)
    with dp.simulate(6, trials=100_000) as channel:
        batch = records(data, 100_000, Shuffler(channel))
        units = batch.sum_units(GRID) if asked == "sums" else sum_by_tag(batch.units(GRID), batch.tags, 3)
    probabilities = dict(enumerate(law[k] for k in sorted(law)))
    assert fits(codes(from_units(units), law), probabilities) > ALPHA


def test_an_exception_that_stays_in_its_place_would_be_noticed(fits):
    """The twin: no shuffler, so that the exceptional client always plays the first arm."""
    data = ConstantExceptOne(1.0, 7, -1.0)
    law = enumerated(data)
    units = records(data, 10_000).sum_units(GRID)
    assert fits(codes(from_units(units), law), dict(enumerate(law[k] for k in sorted(law)))) < ALPHA


def test_shuffled_trials_refuse_rewards_whose_place_matters():
    with dp.simulate(1, trials=3) as channel, pytest.raises(InvalidValue, match="ConstantExceptOne or Stochastic"):
        records(Sequence(np.linspace(-1, 1, 12)), 3, Shuffler(channel)).sum_units(GRID)


def test_reports_of_many_plans_are_refused():
    pulls = Pulls(np.array([0, 0]), np.array([[0], [1]]), np.array([[2], [3]]), np.array([0, 1]))
    with pytest.raises(InvalidValue, match="one plan at a time"):
        _ = BatchRecords(Sequence(np.zeros(5)), pulls).tags


def test_nothing_is_drawn_before_it_is_asked_for():
    class Counted(Sequence):
        asked = 0

        def each(self, rounds, action):
            Counted.asked += 1
            return super().each(rounds, action)

    batch = records(Counted(np.zeros(12)))
    assert (batch.n, batch.sealed(), Counted.asked) == (4, None, 0)
    batch.units(GRID)
    batch.units(GRID)
    assert Counted.asked == 1  # and a client answers once


def test_sealed_rewards_stay_sealed():
    assert isinstance(records(SealedRewards(Sequence(np.zeros(12)))).sealed(), Sealed)
