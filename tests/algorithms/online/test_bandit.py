"""The online face: the batch runner's algorithms with tickets, late and missing rewards, crashes and saved state."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpaudit as dp
from algorithms.elimination.loop import run
from algorithms.online.bandit import (
    BatchOutstanding,
    Client,
    HorizonReached,
    OnlineBandit,
    Report,
    Ticket,
    UnknownTicket,
    client_report,
)
from algorithms.registry import pieces
from algorithms.rewards import SealedRewards, Table
from dpaudit.channel import Channel
from dpaudit.claims import DpauditError, InvalidValue, Leak
from dpaudit.noise import from_units
from dpaudit.sealed import snap

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


def outputs(channel):
    return [(event.name, event.output.tolist(), event.query.tolist()) for event in channel.events]


# --- the same algorithm ---


@pytest.mark.parametrize("every_report", [False, True])
@pytest.mark.parametrize("algorithm", TRUSTED)
def test_the_online_face_equals_the_batch_run_release_by_release(algorithm, every_report):
    rewards = table()
    with dp.simulate(5, every_report=every_report) as channel:
        expected = batch_run(algorithm, rewards, channel)
    with dp.simulate(5, every_report=every_report) as online:
        played = play_out(OnlineBandit(algorithm, channel=online, **WAYS), rewards, np.random.default_rng(1))
    assert outputs(online) == outputs(channel)
    assert len(online.events) >= 4
    assert same_play(played, expected)
    assert len(set(played.plays[:-1].tolist())) > 1  # something was eliminated on the way
    other = rewards.copy()
    other[0] = -other[0]  # the twin: one reward more or less is noticed
    with dp.simulate(5, every_report=every_report) as online:
        play_out(OnlineBandit(algorithm, channel=online, **WAYS), other)
    assert outputs(online) != outputs(channel)


def test_the_local_server_given_the_reports_of_the_batch_run_plays_the_same():
    with dp.simulate(5, every_report=True) as channel:
        expected = batch_run("local", table(), channel)
    order = np.random.default_rng(2)
    with dp.simulate(6) as online:
        bandit = OnlineBandit("local", channel=online, **WAYS)
        for event in channel.events:
            reports = from_units(event.output)
            tickets = open_tickets(bandit)
            assert len(tickets) == len(reports)
            for place in order.permutation(len(tickets)):
                bandit.update(tickets[place], Report(tickets[place].id, reports[place]))
    assert same_play(bandit.result(), expected)
    assert len(set(bandit.result().plays[:-1].tolist())) > 1


def first_ticket(**more):
    with dp.simulate(0) as channel:
        return OnlineBandit("local", channel=channel, epsilon=1, horizon=3000, actions=ACTIONS, **more).select()


def test_a_client_adds_laplace_noise_of_scale_range_over_epsilon_to_its_reward():
    """Kolmogorov–Smirnov at level 10⁻⁶ on 2000 seeded reports; half the noise must fail it."""
    ticket = first_ticket()
    tickets = [dataclasses.replace(ticket, id=str(place)) for place in range(2000)]
    with dp.simulate(8) as channel:
        values = [client_report(each, 0.25, channel=channel).value for each in tickets]
    assert stats.kstest(values, stats.laplace(0.25, 2).cdf).pvalue > 1e-6
    assert stats.kstest((np.array(values) + 0.25) / 2, stats.laplace(0.25, 2).cdf).pvalue < 1e-6
    one, other = (client_report(first_ticket(), 0.25).value for _ in range(2))  # a live door of the client's own
    assert one != other
    assert one * 2**20 == int(one * 2**20)  # on the grid


def test_a_client_refuses_a_server_that_asks_for_less_noise_than_its_own_budget():
    ticket = first_ticket()
    with pytest.raises(dp.BudgetExceeded):
        client_report(ticket, 0.5, budget="0.9")
    assert isinstance(client_report(ticket, 0.5, budget="1"), Report)
    with pytest.raises(InvalidValue, match="local model"):
        client_report(Ticket("0-x", 0, 0, (1.0,)), 0.5)
    louder = dataclasses.replace(ticket.terms, epsilon=Fraction(2), scale=Fraction(1))
    client = Client()
    client.report(ticket, 0.5)
    with pytest.raises(dp.BudgetExceeded):  # the first ticket's ε is the client's limit
        client.report(dataclasses.replace(ticket, id="1-x", round=1, terms=louder), 0.5)


@pytest.mark.parametrize("make", [lambda: Client().report, lambda: client_report])
def test_a_server_cannot_make_a_client_draw_again(make):
    """200 further questions about one ticket, with other rewards and terms; fresh draws would give 200 values."""
    report, ticket = make(), first_ticket()
    first = report(ticket, 0.73)
    louder = dataclasses.replace(ticket.terms, scale=Fraction(1, 1000))
    copies = [ticket, dataclasses.replace(ticket, terms=louder), dataclasses.replace(ticket, round=7, batch=9)]
    rewards = np.linspace(-1, 1, 200)
    assert {report(copies[i % 3], reward) for i, reward in enumerate(rewards)} == {first}
    fresh = {report(dataclasses.replace(ticket, id=str(i), round=i + 1), 0.73).value for i in range(200)}  # the twin
    assert len(fresh) > 190


def test_a_client_answers_one_ticket_per_round():
    ticket, client = first_ticket(), Client()
    client.report(ticket, 0.5)
    with pytest.raises(dp.BudgetExceeded):  # the same round under another name would be a second draw
        client.report(dataclasses.replace(ticket, id="another"), 0.5)
    client.report(dataclasses.replace(ticket, id="another", round=ticket.round + 1), 0.5)


def test_a_client_with_a_ledger_sends_the_same_report_after_a_restart(tmp_path):
    ticket, path = first_ticket(), tmp_path / "mine.ledger"
    with dp.open_ledger(path) as ledger:
        sent = Client(ledger=ledger).report(ticket, 0.771917)
        size = ledger.head().size
    with dp.open_ledger(path) as ledger:
        assert Client(ledger=ledger).report(ticket, -1.0) == sent
        assert ledger.head().size == size
        assert ledger.spent() == (1, 0)
        with pytest.raises(InvalidValue, match="key"):  # other terms: nothing is sent
            Client(ledger=ledger).report(dataclasses.replace(ticket, round=5), 0.5)
    assert b"0.771917" not in path.read_bytes()


def test_the_local_server_takes_reports_alone():
    with dp.simulate(0) as channel:
        bandit = OnlineBandit("local", channel=channel, **WAYS)
        first, second = bandit.select(), bandit.select()
        with pytest.raises(InvalidValue, match="client_report") as caught:
            bandit.update(first, 0.123456)
        assert "0.123" not in str(caught.value)
        with pytest.raises(InvalidValue, match="another ticket"):
            bandit.update(first, Report(second.id, 0.5))
        with pytest.raises(InvalidValue, match="finite"):
            bandit.update(first, Report(first.id, math.nan))
        assert bandit.update(first, Report(first.id, 0.5))


def test_the_shuffler_hands_out_the_batch_in_a_secret_order():
    rewards = table()
    handed = {}
    for algorithm in TRUSTED:
        with dp.simulate(3) as channel:
            bandit = OnlineBandit(algorithm, channel=channel, **WAYS)
            for _ in range(3):
                tickets = open_tickets(bandit)
                for ticket in tickets:
                    bandit.update(ticket, rewards[ticket.round, ticket.action])
            handed[algorithm] = [ticket.action for ticket in tickets]
    assert sorted(handed["shuffled"]) == sorted(handed["central"])
    assert handed["central"] == sorted(handed["central"], key=handed["central"].index)  # in turn
    assert handed["shuffled"] != handed["central"]


# --- rewards as they come ---


def test_a_second_reward_for_a_ticket_is_ignored_and_a_late_one_too():
    rewards = table()
    with dp.simulate(5) as plain:
        play_out(OnlineBandit("central", channel=plain, **WAYS), rewards)
    with dp.simulate(5) as channel:
        bandit = OnlineBandit("central", channel=channel, **WAYS)
        old = None
        while bandit.batch is not None:
            tickets = open_tickets(bandit)
            for ticket in tickets:
                assert bandit.update(ticket.id, rewards[ticket.round, ticket.action])  # its id is enough
                assert not bandit.update(ticket, -rewards[ticket.round, ticket.action])
            assert old is None or not bandit.update(old, 1.0)
            old = tickets[0]
    assert outputs(channel) == outputs(plain)


@pytest.mark.parametrize("forged", ["", "0-", "7", "0-00", "x-y", "²-1", "-1-0", "9" * 30 + "-1", "0-é"])
def test_an_unknown_ticket_is_refused(forged):
    with dp.simulate(0) as channel:
        bandit = OnlineBandit("central", channel=channel, **WAYS)
        bandit.select()
        with pytest.raises(UnknownTicket, match="unknown ticket"):
            bandit.update(forged, 0.5)
        with dp.simulate(0) as other, pytest.raises(UnknownTicket):
            bandit.update(OnlineBandit("central", channel=other, **WAYS).select(), 0.5)
        with pytest.raises(InvalidValue, match="ticket"):
            bandit.update(0, 0.5)


def test_no_value_is_refused_and_none_leaves_the_declared_range():
    values = [math.nan, math.inf, -math.inf, 1e300, -7.5, 10**400, -(10**400), np.float32(0.5), np.int8(-3), True]
    meant = [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 0.5, -1.0, 1.0]
    values, meant = [*values, Fraction(1, 4), np.bool_(False)], [*meant, 0.25, 0.0]
    released = []
    for stream in (values, meant, [-value for value in meant]):
        with dp.simulate(5) as channel:
            bandit = OnlineBandit("central", channel=channel, **WAYS)
            while len(channel.events) < 3:
                for ticket in open_tickets(bandit):
                    bandit.update(ticket, stream[ticket.round % len(stream)])
        released.append(outputs(channel))
    assert released[0] == released[1]
    assert released[0] != released[2]


@pytest.mark.parametrize("wrong", ["0.123456", None, 0.123456j, [0.123456], np.array([0.123456]), object()])
def test_what_is_no_number_is_refused_by_its_type_alone(wrong):
    with dp.simulate(0) as channel:
        bandit = OnlineBandit("central", channel=channel, **WAYS)
        ticket = bandit.select()
        with pytest.raises(InvalidValue, match="a real number, not") as caught:
            bandit.update(ticket, wrong)
        assert "0.123" not in str(caught.value)
        assert bandit.update(ticket, 0.5)


@pytest.mark.parametrize(("missing", "value"), [(None, 0.0), ("-1/2", -0.5)])
@pytest.mark.parametrize("algorithm", TRUSTED)
def test_the_declared_default_stands_in_for_missing_rewards_and_nothing_else_changes(algorithm, missing, value):
    rewards = table()
    runs = []
    for absent in (True, False):
        with dp.simulate(5) as channel:
            bandit = OnlineBandit(algorithm, channel=channel, missing=missing, **WAYS)
            while len(channel.events) < 3:
                tickets = open_tickets(bandit)
                for ticket in tickets[2:]:
                    bandit.update(ticket, rewards[ticket.round, ticket.action])
                if absent:
                    assert bandit.finish_batch() == 2
                    assert not bandit.update(tickets[0], 1.0)  # too late
                else:
                    for ticket in tickets[:2]:
                        bandit.update(ticket, value)
        runs.append(outputs(channel))
    assert runs[0] == runs[1]


def test_an_absent_client_of_the_local_model_is_replaced_by_a_noisy_default():
    """The mean of 300 stand-ins lies within 5 standard errors (level 6·10⁻⁷) of the default, and they are noisy."""
    with dp.simulate(9) as channel:
        bandit = OnlineBandit("local", channel=channel, missing="0.5", epsilon=1, horizon=3000, actions=ACTIONS)
        while len(channel.events) < 300:
            open_tickets(bandit)
            bandit.finish_batch()
    noise = np.array([from_units(event.output - event.query) for event in channel.events]).ravel()
    assert {float(from_units(event.query)) for event in channel.events} == {0.5}
    assert abs(noise.mean()) < 5 * math.sqrt(8 / len(noise))
    assert abs(noise.std() / math.sqrt(8) - 1) < 0.5  # no noise, or half of it, would be outside


def test_rounds_are_handed_out_once_each_up_to_the_horizon():
    rewards = table()
    with dp.simulate(5) as channel:
        bandit = OnlineBandit("central", channel=channel, **WAYS)
        pulls, rounds = np.zeros(len(ACTIONS), int), []
        for _ in range(3000):
            ticket = bandit.select()
            assert ticket.vector == tuple(ACTIONS[ticket.action])
            pulls[ticket.action] += 1
            rounds.append(ticket.round)
            assert bandit.update(ticket, rewards[ticket.round, ticket.action]) == (ticket.batch is not None)
        with pytest.raises(HorizonReached, match="all 3000 rounds"):
            bandit.select()
    assert rounds == list(range(3000))
    assert np.array_equal(pulls, bandit.result().pulls)
    with pytest.raises(DpauditError, match="no batch is open"):
        bandit.finish_batch()


def test_a_batch_waits_for_its_rewards():
    with dp.simulate(0) as channel:
        bandit = OnlineBandit("central", channel=channel, **WAYS)
        first = bandit.select()
        for refused in (bandit.finish_batch, bandit.close_batch, bandit.result):
            with pytest.raises(BatchOutstanding, match="other rounds first"):
                refused()
        tickets = [first, *open_tickets(bandit)]
        for ticket in tickets[1:]:
            bandit.update(ticket, 0.0)
        for refused in (bandit.select, bandit.close_batch, bandit.result):
            with pytest.raises(BatchOutstanding, match="batch 1 waits for 1 rewards") as caught:
                refused()
        assert caught.value.waiting == bandit.waiting == 1
        assert not channel.events
        bandit.update(first, 0.0)
        assert bandit.batch == 2
        assert len(channel.events) == 1


def test_clients_in_several_threads_each_get_a_round_of_their_own():
    rewards = table()
    with dp.simulate(5) as channel:
        expected = batch_run("central", rewards, channel)
    with dp.simulate(5) as channel:
        bandit, rounds = OnlineBandit("central", channel=channel, **WAYS), []

        def client():
            while True:
                try:
                    ticket = bandit.select()
                except BatchOutstanding:
                    continue
                except HorizonReached:
                    return
                rounds.append(ticket.round)
                bandit.update(ticket, rewards[ticket.round, ticket.action])

        threads = [threading.Thread(target=client) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(rounds) == list(range(3000))
    assert same_play(bandit.result(), expected)


# --- nothing private can be read ---


def numbers_in(thing, seen=None):
    """Every number that can be reached through attributes, slots, items and arrays, without calling anything."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, type | Channel):
        return
    seen.add(id(thing))
    if isinstance(thing, int | float | np.generic):
        yield float(thing)
    elif isinstance(thing, np.ndarray):
        yield from (float(value) for value in thing.ravel() if np.isreal(value))
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from numbers_in(key, seen)
            yield from numbers_in(value, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for value in thing:
            yield from numbers_in(value, seen)
    else:
        slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        for name in {*getattr(thing, "__dict__", {}), *slots}:
            if hasattr(thing, name):
                yield from numbers_in(getattr(thing, name), seen)


SECRETS = [0.123456, 0.234567, 0.345678]


def holding_secrets(algorithm, **more):
    with dp.simulate(0) as channel:
        bandit = OnlineBandit(algorithm, channel=channel, **{**WAYS, **more})
    for ticket in open_tickets(bandit):  # the first batches are one or two rounds long
        bandit.update(ticket, 0.0)
    while bandit.waiting < 5:
        for ticket in open_tickets(bandit):
            bandit.update(ticket, 0.0)
    for ticket, secret in zip(open_tickets(bandit)[:3], SECRETS, strict=True):
        bandit.update(ticket, secret)
    return bandit


def betrayed(thing):
    wanted = [*SECRETS, sum(SECRETS), SECRETS[0] + SECRETS[1]]
    return {round(n, 5) for n in numbers_in(thing)} & {round(float(snap(s, -1, 1)), 5) for s in wanted}


@pytest.mark.parametrize("algorithm", TRUSTED)
def test_rewards_and_running_sums_cannot_be_read_off_the_object(algorithm, tmp_path):
    bandit = holding_secrets(algorithm)
    assert not betrayed(bandit)
    shown = repr(bandit) + str(bandit) + repr(vars(bandit)) + repr(vars(bandit._course))
    assert not [secret for secret in SECRETS if str(secret)[:6] in shown]
    bandit.save(tmp_path / "state.json")
    assert not betrayed(json.loads((tmp_path / "state.json").read_text()))
    bandit._course.careless = {"rewards": [SECRETS[0]]}  # the twin: what is kept in an attribute is found
    assert betrayed(bandit)


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_online_bandit_and_its_open_batch_are_not_pickled_or_copied(way):
    bandit = holding_secrets("central")
    for thing in (bandit, bandit._course.batch):
        with pytest.raises(Leak, match="DPA002"):
            way(thing)


def test_the_shufflers_order_cannot_be_read_off_the_object():
    bandit = holding_secrets("shuffled")
    batch = bandit._course.batch
    arrays = [value for value in vars(batch).values() if isinstance(value, np.ndarray)]
    assert not arrays
    assert {name for name, value in vars(batch).items() if not callable(value)} == {"number", "start", "size"}
