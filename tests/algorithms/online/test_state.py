"""The online face in a deployment: ledger and budget, crashes, saved state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import dpaudit as dp
from algorithms.elimination.loop import run
from algorithms.online.bandit import (
    BatchOutstanding,
    HorizonReached,
    OnlineBandit,
    UnknownTicket,
    UnreadableState,
    client_report,
)
from algorithms.registry import pieces
from algorithms.rewards import SealedRewards, Table
from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.ledger import MemoryLedger, Release

ACTIONS = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]]
WAYS = {"epsilon": 20, "horizon": 3000, "actions": ACTIONS}
TRUSTED = ["central", "shuffled"]


def table(seed=0, horizon=3000):
    """Rewards in {−1, 1} with mean ⟨θ, a⟩, θ = (.9, 0): some actions are eliminated on the way."""
    rng = np.random.default_rng(seed)
    means = np.array(ACTIONS) @ [0.9, 0.0]
    return np.where(rng.random((horizon, len(ACTIONS))) < (1 + means) / 2, 1.0, -1.0)


def batch_run(algorithm, rewards, channel):
    setting, step, _ = pieces(
        algorithm, delta="1e-6", calibration="tight", low=-1, high=1, design="frank-wolfe", maximum="active", **WAYS
    )  # fmt: skip
    return run(setting, step, SealedRewards(Table(rewards)), channel)


def open_tickets(bandit):
    """All rounds of the open batch that were not handed out yet."""
    tickets, batch = [], bandit.batch
    while True:
        try:
            tickets.append(bandit.select())
        except BatchOutstanding:
            assert all(ticket.batch == batch for ticket in tickets)
            return tickets


def play_out(bandit, rewards, rng=None):
    """Answer every batch; in random order when a generator is given."""
    while bandit.batch is not None:
        tickets = open_tickets(bandit)
        for place in range(len(tickets)) if rng is None else rng.permutation(len(tickets)):
            bandit.update(tickets[place], rewards[tickets[place].round, tickets[place].action])
    return bandit.result()


def same_play(a, b):
    return np.array_equal(a.plays, b.plays) and np.array_equal(a.pulls, b.pulls) and a.best == b.best


SMALL = {"epsilon": "1", "horizon": 400, "actions": ACTIONS}


def answer(bandit, ticket, rewards):
    reward = rewards[ticket.round, ticket.action]
    return bandit.update(ticket, client_report(ticket, reward) if ticket.terms else reward)


@pytest.mark.parametrize("algorithm", ["central", "local", "shuffled"])
def test_a_deployment_stays_within_its_budget_and_its_ledger_proves_it(algorithm):
    rewards, ledger = table(horizon=400), MemoryLedger(kind="deployment")
    bandit = OnlineBandit(algorithm, ledger=ledger, **SMALL)
    while bandit.batch is not None:
        for ticket in open_tickets(bandit):
            answer(bandit, ticket, rewards)
    bound = dp.account(ledger)
    assert bound.epsilon <= 1
    assert ledger.spent()[0] <= 1
    assert ledger.budget.epsilon == 1
    releases = list(ledger.releases())
    batches = int(bandit.result().batches)
    assert {release.name for release in releases} == {f"batch {i}" for i in range(1, batches + 1)}
    if algorithm == "local":
        assert len(releases) == bandit._course.boundary.time
    else:
        assert [release.derived for release in releases] == [2] * batches
    if algorithm == "shuffled":
        assert {release.to for release in releases} == {"shuffled"}


def test_a_new_run_over_the_same_rounds_is_refused_before_it_takes_a_reward():
    ledger = MemoryLedger(kind="deployment")
    bandit = OnlineBandit("central", ledger=ledger, **SMALL)
    for ticket in open_tickets(bandit):
        bandit.update(ticket, 0.5)
    with pytest.raises(DpauditError, match=r"continue it with OnlineBandit\.load"):
        OnlineBandit("central", ledger=ledger, **SMALL)
    with dp.live(ledger) as door, pytest.raises(dp.BudgetExceeded):  # and the door would have refused it
        door.release("batch 1", 0.0, dp.Laplace(2), sensitivity=2, cohort=range(1))


CHILD = """
    import os, signal, sys
    import dpaudit as dp
    from algorithms.online.bandit import OnlineBandit, client_report
    algorithm, ledger, state, actions = sys.argv[1], sys.argv[2], sys.argv[3], eval(sys.argv[4])
    bandit = OnlineBandit(algorithm, epsilon="1", horizon=400, actions=actions,
                          ledger=dp.open_ledger(ledger), state=state)
    while True:
        ticket = bandit.select()
        if bandit.batch == 4:
            print(ticket.round, ticket.action, ticket.id, flush=True)
            if bandit.waiting <= 20:
                os.kill(os.getpid(), signal.SIGKILL)
        bandit.update(ticket, client_report(ticket, 0.5) if ticket.terms else 0.5)
"""


def killed_run(folder, algorithm):
    """A process that is killed in batch 4, when 20 of its rewards are missing: what it had handed out there."""
    script = folder / "deployment.py"
    script.write_text(textwrap.dedent(CHILD))
    paths = [str(folder / "ledger.db"), str(folder / "state.json")]
    command = [sys.executable, str(script), algorithm, *paths, repr(ACTIONS)]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ})
    assert child.returncode == -signal.SIGKILL, child.stderr
    lines = [line.split() for line in child.stdout.splitlines()]
    return [(int(played), int(action)) for played, action, _ in lines], [name for *_, name in lines]


@pytest.mark.parametrize("algorithm", TRUSTED)
def test_a_crash_in_mid_batch_costs_nothing_and_its_assignment_is_played_again(algorithm, tmp_path):
    handed, names = killed_run(tmp_path, algorithm)
    with dp.open_ledger(tmp_path / "ledger.db") as ledger:
        assert [release.name for release in ledger.releases()] == ["batch 1", "batch 2", "batch 3"]
        assert not ledger.unused_charges()
        size = ledger.head().size
        bandit = OnlineBandit.load(tmp_path / "state.json", ledger=ledger)
        assert ledger.head().size == size
        assert bandit.batch == 4
        with pytest.raises(UnknownTicket):
            bandit.update(names[0], 0.5)
        tickets = open_tickets(bandit)
        again = [(ticket.round, ticket.action) for ticket in tickets]
        assert len(again) == len(handed) + 19  # the child was killed with 20 rewards missing, one of them handed out
        if algorithm == "central":
            assert again[: len(handed)] == handed
        for ticket in tickets:
            bandit.update(ticket, 0.5)
        play_out(bandit, np.full((400, len(ACTIONS)), 0.5))
        assert ledger.spent()[0] <= 1
        assert dp.account(ledger).epsilon <= 1
        assert bandit.result().pulls.sum() == 400


def test_reports_that_a_local_server_received_before_a_crash_are_kept_and_nobody_is_asked_twice(tmp_path):
    handed, _ = killed_run(tmp_path, "local")
    with dp.open_ledger(tmp_path / "ledger.db") as ledger:
        before = len(list(ledger.releases()))
        bandit = OnlineBandit.load(tmp_path / "state.json", ledger=ledger)
        assert bandit.waiting == 20
        tickets = open_tickets(bandit)
        assert tickets[0].round == handed[-1][0]  # the one that was killed before its report arrived
        assert len(tickets) == 20
        for ticket in tickets:
            answer(bandit, ticket, np.full((400, len(ACTIONS)), 0.5))
        assert bandit.batch != 4
        assert len(list(ledger.releases())) == before + 20
        assert ledger.spent()[0] <= 1


@pytest.mark.parametrize("algorithm", ["central", "local", "shuffled"])
def test_batches_released_after_the_last_save_are_taken_from_the_ledger_at_no_cost(algorithm, tmp_path):
    rewards, ledger = table(horizon=400), MemoryLedger(kind="deployment")
    bandit = OnlineBandit(algorithm, ledger=ledger, **SMALL)
    bandit.save(tmp_path / "old.json")
    while bandit.batch is not None:
        for ticket in open_tickets(bandit):
            answer(bandit, ticket, rewards)
    size = ledger.head().size
    again = OnlineBandit.load(tmp_path / "old.json", ledger=ledger)
    assert same_play(again.result(), bandit.result())
    assert ledger.head().size == size


def test_rounds_that_were_charged_and_lost_are_not_charged_again(tmp_path):
    """A crash between the charge and the stored release: the noise may have been drawn, so those rounds are spent."""
    ledger = MemoryLedger(kind="deployment")
    bandit = OnlineBandit("central", ledger=ledger, state=tmp_path / "state.json", **SMALL)
    for ticket in open_tickets(bandit):
        bandit.update(ticket, 0.5)
    tickets = open_tickets(bandit)
    lost = range(tickets[0].round, tickets[-1].round + 1)
    noise = dp.Laplace(2).parameters()
    charged = Release(name="batch 2", mechanism="laplace", parameters=noise, sensitivity=2, epsilon=1, cohort=lost)
    ledger.charge(charged.charge())
    again = OnlineBandit.load(tmp_path / "state.json", ledger=ledger)
    assert again.batch == 2
    assert [ticket.round for ticket in open_tickets(again)] == list(range(lost.stop, lost.stop + len(lost)))
    for ticket in tickets[:-1]:
        bandit.update(ticket, 0.5)
    with pytest.raises(dp.BudgetExceeded):  # the twin: the first object would charge those rounds again
        bandit.update(tickets[-1], 0.5)
    again.finish_batch()
    play_out(again, np.full((400, len(ACTIONS)), 0.5))
    assert ledger.spent()[0] == 1
    assert again.result().pulls.sum() == 400


def test_a_saved_run_goes_on_as_if_it_had_not_been_interrupted(tmp_path):
    rewards = table()
    with dp.simulate(5) as channel:
        expected = batch_run("central", rewards, channel)
    with dp.simulate(5) as channel:
        bandit = OnlineBandit("central", channel=channel, **WAYS)
        while bandit.batch is not None:
            tickets = open_tickets(bandit)
            for ticket in tickets[: len(tickets) // 2]:
                bandit.update(ticket, 0.77)  # lost with the crash
            bandit.save(tmp_path / "state.json")
            bandit = OnlineBandit.load(tmp_path / "state.json", channel=channel)
            for ticket in open_tickets(bandit):
                bandit.update(ticket, rewards[ticket.round, ticket.action])
    assert same_play(bandit.result(), expected)


def test_the_saved_state_holds_public_things_only(tmp_path):
    with dp.simulate(0) as channel:
        OnlineBandit("central", channel=channel, **WAYS).save(tmp_path / "state.json")
    document = json.loads((tmp_path / "state.json").read_text())
    assert set(document) == {"schema", "parameters", "ledger", "state"}
    assert set(document["state"]) == {"batch", "time", "active", "pulls", "history", "best"}
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]  # nothing half-written


@pytest.mark.parametrize(
    "change",
    [
        lambda d: "no json",
        lambda d: json.dumps([]),
        lambda d: json.dumps({**d, "schema": "dpaudit.online/2"}),
        lambda d: json.dumps({**d, "state": {**d["state"], "active": []}}),
        lambda d: json.dumps({**d, "state": {**d["state"], "active": [9]}}),
        lambda d: json.dumps({**d, "state": {**d["state"], "time": 10**9}}),
        lambda d: json.dumps({**d, "state": {**d["state"], "batch": 2.5}}),
        lambda d: json.dumps({**d, "state": {}}),
        lambda d: json.dumps({**d, "parameters": {"algorithm": "central"}}),
        lambda d: json.dumps({**d, "ledger": "another"}),
    ],
)
def test_a_damaged_or_foreign_state_is_refused(change, tmp_path):
    path = tmp_path / "state.json"
    with dp.simulate(0) as channel:
        OnlineBandit("central", channel=channel, **WAYS).save(path)
        assert OnlineBandit.load(path, channel=channel).batch == 1
        path.write_text(change(json.loads(path.read_text())))
        with pytest.raises(UnreadableState):
            OnlineBandit.load(path, channel=channel)
        with pytest.raises(UnreadableState):
            OnlineBandit.load(tmp_path / "absent.json", channel=channel)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"calibration": "printed"}, "calibration"),
        ({"missing": 2}, "missing"),
        ({"epsilon": 0}, "epsilon"),
        ({"horizon": 2}, "horizon"),
        ({"low": 1, "high": -1}, "low"),
        ({"algorithm": "nonprivate"}, "algorithm"),
        ({"algorithm": "shuffled", "delta": 0}, "delta"),
        ({"ledger": None}, "ledger"),
    ],
)
def test_bad_parameters_are_named(change, named):
    given = {"algorithm": "central", "ledger": MemoryLedger(kind="deployment"), **SMALL, **change}
    with pytest.raises(InvalidValue, match=named):
        OnlineBandit(**given)


def test_a_deployment_writes_a_deployment_ledger_and_a_simulated_door_serves_one_run():
    with pytest.raises(DpauditError, match="simulated"):
        OnlineBandit("central", ledger=MemoryLedger(kind="simulated"), **SMALL)
    with dp.simulate(0, trials=3) as channel, pytest.raises(InvalidValue, match="channel"):
        OnlineBandit("central", channel=channel, **SMALL)
    with dp.live(MemoryLedger(kind="deployment")) as door, pytest.raises(InvalidValue, match="channel"):
        OnlineBandit("central", channel=door, **SMALL)


@pytest.mark.parametrize(
    "change", [{"actions": [[1.0, 0.0]]}, {"actions": 1}, {"horizon": 3}, {"low": 0, "high": 1}, {"low": "1/3", "high": "2/3"}]
)  # fmt: skip
def test_small_and_shifted_cases_run_to_the_end(change):
    with dp.simulate(1) as channel:
        bandit = OnlineBandit("central", channel=channel, **{**SMALL, **change})
        for _ in range(change.get("horizon", 400)):
            bandit.update(bandit.select(), 0.5)
        with pytest.raises(HorizonReached):
            bandit.select()
    assert bandit.result().pulls.sum() == change.get("horizon", 400)
