"""The loop of the baselines: every round is played once, a block that does not fit is not released, trials end on their own."""

from __future__ import annotations

import numpy as np

from algorithms.baselines.blocks import Setting, run
from algorithms.rewards import Sequence
from dpaudit.deployment import simulate


class Turns:
    """Plays action 0, 1, 0, … for 40 rounds each, whatever it learns."""

    def __init__(self, trials):
        self.learned, self.count = [], np.zeros(trials, int)

    def choose(self, rng):
        return self.count % 2, np.full(len(self.count), 40)

    def learn(self, action, length, statistic, rng):
        self.learned.append(np.array(statistic))
        self.count += 1

    def keep(self, index):
        self.count = self.count[index]


class InTurns:
    def __init__(self):
        self.made = None

    def policy(self, actions, horizon):
        self.made = Turns(len(actions))
        return self.made

    def statistic(self, channel, rewards, pulls, block, points):
        return np.ravel(pulls.sums(rewards))


def play(trials):
    system, setting = InTurns(), Setting(np.eye(2), 100)
    with simulate(1, trials=trials) as channel:
        played = run(setting, system, Sequence(np.linspace(-1, 1, 100)), channel)
    return played, system.made.learned


def test_one_run_uses_every_round_once_and_learns_from_whole_blocks_alone():
    played, learned = play(None)
    assert played.pulls.tolist() == [60, 40]
    assert played.batches == 3
    values = Sequence(np.linspace(-1, 1, 100)).values
    assert [each.item() for each in learned] == [values[:40].sum(), values[40:80].sum()]


def test_trials_play_as_one_run_does():
    one, many = play(None)[0], play(4)[0]
    assert (many.pulls == one.pulls).all()
    assert (many.plays == one.plays).all()
