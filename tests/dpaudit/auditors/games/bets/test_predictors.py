"""Predictors that learn as they go: quick to learn a shift, a category or a leak, and quiet when there is nothing to learn."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.auditors.games.bets.predictors import KEPT, Online


def fed(table: np.ndarray, coins: np.ndarray, claim: float = 1.0, chunk: int = 50) -> Online:
    online = Online(claim)
    for k in range(0, len(coins), chunk):
        online.odds(table[k : k + chunk])
        online.learn(table[k : k + chunk], coins[k : k + chunk])
    return online


def test_before_it_has_seen_anything_it_knows_nothing() -> None:
    assert Online(1.0).odds(np.ones((3, 2))).tolist() == [0, 0, 0]
    online = Online(1.0)
    online.learn(np.ones((4, 2)), np.array([True, True, True, True]))
    assert online.odds(np.ones((2, 2))).tolist() == [0, 0]  # a constant says nothing


@pytest.mark.parametrize("runs", [200, 1000])
def test_a_shift_is_learned_from_a_few_hundred_runs(runs: int) -> None:
    """Lap(1/2), shift 1: ±2 outside [0, 1]. The coins of the twin are unrelated."""
    rng = np.random.default_rng(1)
    coins = rng.random(runs) < 0.5
    values = (coins + rng.laplace(scale=0.5, size=runs))[:, None]
    ends = fed(values, coins).odds(np.array([[-1.0], [2.0]]))
    assert -3 < ends[0] < -1.2 < 1.2 < ends[1] < 3
    twin = fed(values, rng.random(runs) < 0.5).odds(np.array([[-1.0], [2.0]]))
    assert np.abs(twin).max() < 1


def test_the_better_expert_is_trusted_more() -> None:
    """The sum of two bits modulo 2 is the coin: no ramp sees it, categories do."""
    rng = np.random.default_rng(2)
    table = rng.integers(0, 2, (300, 2)) * 1.0
    odds = fed(table, table.sum(axis=1) % 2 == 1).odds(np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert odds[1] < -2 < 2 < odds[0]


def test_predictions_stay_finite_and_memory_bounded() -> None:
    rng = np.random.default_rng(3)
    coins = rng.random(KEPT + 4000) < 0.5
    online = fed(np.where(coins, 1.0, np.nan)[:, None], coins, chunk=2000)
    assert online.runs is not None
    assert len(online.runs[0]) <= KEPT + 2000
    odds = online.odds(np.array([[1.0], [np.nan], [np.inf], [1e300]]))
    assert np.isfinite(odds).all()
    assert odds[1] < -3 < 3 < odds[0]


def test_nothing_is_learned_from_a_chunk_before_it_is_predicted() -> None:
    rng = np.random.default_rng(4)
    coins, values = rng.random(100) < 0.5, rng.normal(size=(100, 1))
    online, twin = fed(values, coins), fed(values, coins)
    new = rng.normal(size=(20, 1))
    first = online.odds(new)
    assert online.odds(new).tolist() == first.tolist() == twin.odds(new).tolist()
