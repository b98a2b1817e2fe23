"""A baseline as a subject: it plays all of the horizon, alone and in trials, with actions of any norm; certified or refuted."""

from __future__ import annotations

import numpy as np
import pytest

import dpaudit as dp
from algorithms.baselines.registry import SYSTEMS, make_baseline
from dpaudit.deployment import simulate
from dpaudit.ledger import MemoryLedger

SHORT = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.0], [-0.6, -0.6]])


@pytest.mark.parametrize("name", SYSTEMS)
def test_trials_and_single_runs_play_the_whole_horizon(name):
    subject = make_baseline(name, 1, None, 3000, SHORT, "printed")
    with simulate(1, trials=6) as channel:
        many = subject.evaluate(channel, np.random.default_rng(1))
    assert 0 <= many["regret"] <= 6000
    assert many["error"] > 0
    with simulate(1, ledger=MemoryLedger(kind="simulated")) as channel:
        one = subject.evaluate(channel, np.random.default_rng(1))
    assert 0 <= one["regret"] <= 6000
    assert "error" not in one


@pytest.mark.parametrize("name", [name for name, row in SYSTEMS.items() if row.model != "nonprivate"])
def test_every_round_is_in_one_release_at_most_or_one_for_each_coordinate(name):
    subject, ledger = make_baseline(name, 1, None, 20_000, (3, 2), "printed"), MemoryLedger(kind="simulated")
    with simulate(1, ledger=ledger) as channel:
        subject.evaluate(channel, np.random.default_rng(1))
    touched = np.zeros(20_000, int)
    for release in ledger.releases():
        for first, last in release.cohort.intervals:
            touched[first:last] += 1
    assert touched.max() == (2 if name in ("garcelon", "chowdhury-zhou-binomial") else 1)


@pytest.mark.parametrize(
    "name", ["sajed-sheffet", *(pytest.param(each, marks=pytest.mark.slow) for each in ("ren", "zheng", "han", "han-gradient"))]
)
def test_the_claim_is_certified_for_one_changed_reward(name):
    verdict = dp.audit(make_baseline(name, 1, None, 1000, (3, 2), "printed"), seed=1, samples=200)
    assert verdict.verdict == "certified"
    assert verdict.lower.epsilon <= verdict.upper.epsilon <= 1


def test_without_privacy_the_audit_refutes():
    verdict = dp.audit(make_baseline("oful", 1, None, 100, (2, 2), "printed"), seed=1, samples=200)
    assert verdict.verdict == "refuted"


@pytest.mark.parametrize("name", [name for name, row in SYSTEMS.items() if row.model in ("local", "shuffled")])
def test_every_report_of_many_trials_has_its_place(name):
    """Trials that play different actions at different times, with every report drawn: the same rounds are used."""
    subject = make_baseline(name, 1, None, 400, (3, 2), "printed")
    data, _ = subject.neighbours.pairs(np.random.default_rng(1))[0]
    with simulate(3, trials=5, every_report=True) as channel:
        played = subject.function(data, channel, 5)
    assert (played.pulls.sum(axis=1) == 400).all()
    assert all(event.query.shape == event.output.shape for event in channel.events)
