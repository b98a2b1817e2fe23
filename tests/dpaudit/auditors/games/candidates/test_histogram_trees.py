"""Boosted trees: interactions, missing values, and nothing from noise."""

from __future__ import annotations

import numpy as np

from dpaudit.auditors.games.candidates.histogram_trees import FEWEST, Binning, fit_trees, try_trees


def accuracy(table: np.ndarray, coins: np.ndarray) -> float:
    half = len(coins) // 2
    return float(((fit_trees(table[:half], coins[:half])(table[half:]) > 0) == coins[half:]).mean())


def test_an_interaction_that_no_line_sees_is_learned_and_noise_is_not() -> None:
    """The coin is the sign of a product; of 4,000 guesses on noise, 56 % would be luck of eight standard errors."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(8000, 3))
    assert accuracy(table, table[:, 0] * table[:, 1] > 0) > 0.9
    assert accuracy(table, rng.random(8000) < 0.5) < 0.56


def test_missing_values_tell() -> None:
    rng = np.random.default_rng(2)
    coins = rng.random(4000) < 0.5
    table = np.where(rng.random(4000) < 0.2 + 0.6 * coins, np.nan, rng.normal(size=4000))[:, None]
    assert accuracy(table, coins) > 0.75


def test_the_same_runs_give_the_same_trees_and_later_values_fall_into_the_outer_bins() -> None:
    rng = np.random.default_rng(3)
    table, coins = rng.normal(size=(500, 2)), rng.random(500) < 0.5
    assert np.array_equal(fit_trees(table, coins)(table), try_trees(table, coins)(table))
    codes = Binning.of(table)(np.array([[-1e9, np.nan], [1e9, np.inf]]))
    assert codes[0, 0] == 1
    assert codes[0, 1] == codes[1, 1] == len(Binning.of(table).edges[0]) + 1
    assert codes[1, 0] == 0


def test_leaves_hold_enough_runs() -> None:
    """A single run with a value of its own gets no leaf: its score is that of its neighbours."""
    table = np.zeros((400, 1))
    table[0] = 100.0
    coins = np.arange(400) % 2 == 0
    trees = fit_trees(table, coins)
    assert FEWEST > 1
    assert trees(np.array([[100.0]])) == trees(np.array([[0.0]]))
