"""OFUL finds the best action, with a small part of the regret of playing at random."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.baselines.linear import oful
from algorithms.baselines.registry import make_baseline
from dpaudit.deployment import simulate


def test_regret_is_far_below_that_of_chance():
    subject = make_baseline("oful", 1, None, 10_000, None, "printed")
    with simulate(1, trials=50) as channel:
        result = subject.evaluate(channel, np.random.default_rng([1, 6]))
    assert result["regret"] + 4 * result["error"] < 1500  # random play: about 9,000
    assert result["batches"] < 200


@pytest.mark.parametrize(("growth", "low", "high"), [(0.1, 690, 820), (1.0, 860, 1060)])
def test_regret_over_a_million_rounds_depends_on_how_rarely_it_switches(monkeypatch, growth, low, high):
    """Mean of 1000 instances, standard error about 20."""
    monkeypatch.setattr(oful, "GROWTH", growth)
    subject = make_baseline("oful", 1, None, 10**6, None, "printed")
    with simulate(1, trials=1000) as channel:
        result = subject.evaluate(channel, np.random.default_rng([1, 6]))
    assert low < result["regret"] < high
