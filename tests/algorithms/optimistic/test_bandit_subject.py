"""The optimistic subject: its neighbours differ in one round, and its notes tell its public constants."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import optimistic_central, optimistic_local, optimistic_shuffled
from dpaudit.deployment import simulate


@pytest.mark.parametrize("make", [optimistic_central, optimistic_local, optimistic_shuffled], ids=lambda make: make.__name__)
def test_trials_and_single_runs_play_the_whole_horizon(make):
    subject = make(epsilon=1, horizon=700, actions=(3, 2))
    assert subject.evaluate is not None
    with simulate(1, trials=8) as channel:
        many = subject.evaluate(channel, np.random.default_rng(1))
    with simulate(1) as channel:
        one = subject.evaluate(channel, np.random.default_rng(1))
    assert 0 <= many["regret"] <= 1400
    assert 0 <= one["regret"] <= 1400
    assert subject.notes["calibration"] == "optimistic"


def test_neighbours_differ_in_one_round():
    neighbours = optimistic_central(epsilon=1, horizon=700, actions=(3, 2)).neighbours
    for one, other in neighbours.pairs(np.random.default_rng(1)):
        differences = one.each((0, 700), np.zeros(700, int)) != other.each((0, 700), np.zeros(700, int))
        assert differences.sum() == 1


def test_every_report_of_many_trials_has_its_place():
    """Trials that play different actions at different times, with every report drawn: the same rounds are used."""
    subject = optimistic_local(epsilon=1, horizon=700, actions=(3, 2))
    data, _ = subject.neighbours.pairs(np.random.default_rng(1))[0]
    with simulate(3, trials=5, every_report=True) as channel:
        played = subject.function(data, channel, 5)
    assert (played.pulls.sum(axis=1) == 700).all()
    assert all(event.query.shape == event.output.shape for event in channel.events)
