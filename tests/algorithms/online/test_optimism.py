"""The optimistic bandits online: the same batches as the loop plays, saved and caught up from what was released alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpaudit as dp
from algorithms.online.bandit import BatchOutstanding, OnlineBandit, UnreadableState, client_report
from algorithms.online.optimism import OnlineOptimism
from algorithms.optimistic.registry import optimistic_pieces
from dpaudit.claims import InvalidValue
from dpaudit.ledger import MemoryLedger

ACTIONS = [[1.0, 0.0], [0.0, 0.5], [0.0, 0.0], [-1.0, 0.0]]
WAYS = {"epsilon": 4, "horizon": 400, "actions": ACTIONS}
MODELS = ["optimistic", "optimistic-local", "optimistic-shuffled"]


def answer(bandit, batches=None, reward=0.5):
    """Close so many batches, all without a number: each client earns ``reward``; local ones send a report."""
    while bandit.batch is not None and batches != 0:
        tickets = []
        while True:
            try:
                tickets.append(bandit.select())
            except BatchOutstanding:
                break
        for ticket in tickets:
            bandit.update(ticket, reward if ticket.terms is None else client_report(ticket, reward, channel=bandit.door))
        batches = None if batches is None else batches - 1
    return bandit


class Online(OnlineBandit):
    """With the door in reach, for clients of a simulated run."""

    @property
    def door(self):
        return self._course.channel


@pytest.mark.parametrize("algorithm", MODELS)
def test_all_rounds_are_played_in_the_batches_of_the_loop(algorithm):
    with dp.simulate(5) as channel:
        bandit = answer(Online(algorithm, channel=channel, **WAYS))
        played = bandit.result()
    assert played.pulls.sum() == 400
    assert len(bandit._course.loop.boundary().history) // 4 == played.batches - 1 >= 3


@pytest.mark.parametrize("algorithm", ["optimistic", "optimistic-shuffled"])
def test_a_restart_goes_on_where_the_ledger_is_at_no_cost(algorithm, tmp_path):
    ledger, state = MemoryLedger(kind="deployment"), tmp_path / "state.json"
    bandit = answer(OnlineBandit(algorithm, ledger=ledger, state=state, **WAYS), batches=2)
    old = json.loads(state.read_text())
    answer(bandit, batches=1)
    state.write_text(json.dumps(old))  # a crash before the state was written: the ledger holds one batch more
    spent, releases = ledger.spent(), len(list(ledger.releases()))
    again = OnlineBandit.load(state, ledger=ledger)
    assert (again.batch, ledger.spent(), len(list(ledger.releases()))) == (bandit.batch, spent, releases)
    assert again._course.loop.boundary() == bandit._course.loop.boundary()
    assert again.select().action == bandit.select().action


def test_a_history_of_another_run_is_refused(tmp_path):
    state = tmp_path / "state.json"
    with dp.simulate(5) as channel:
        answer(OnlineBandit("optimistic", channel=channel, state=state, **WAYS), batches=2)
    saved = json.loads(state.read_text())
    saved["state"]["history"][0] = (saved["state"]["history"][0] + 1) % len(ACTIONS)
    state.write_text(json.dumps(saved))
    with dp.simulate(5) as channel, pytest.raises(UnreadableState):
        OnlineBandit.load(state, channel=channel)


def test_lost_rounds_are_over_and_teach_nothing():
    setting, step, _ = optimistic_pieces("optimistic", delta=0, **WAYS)
    loop = OnlineOptimism(setting, step, 3)
    before = loop.plan()
    loop.use_up(before)
    assert int(loop.states.time[0]) == int(before.total[0])
    assert not loop.states.stage.any()
    other = OnlineOptimism(setting, step, 3)
    other.restore(loop.boundary())
    assert np.array_equal(other.plan().action, loop.plan().action)


@pytest.mark.parametrize("wrong", [{"calibration": "tight"}, {"low": 0}, {"epsilon": 0}], ids=str)
def test_what_the_optimistic_ones_do_not_have_is_refused(wrong):
    with dp.simulate(5) as channel, pytest.raises(InvalidValue):
        OnlineBandit("optimistic", channel=channel, **{**WAYS, **wrong})
