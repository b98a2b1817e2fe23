"""Learned scores: log-odds that come close to the true ones, and say little where there is little to say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from dpaudit.auditors.games.candidates import scores
from dpaudit.auditors.games.candidates.ramps import fit_ramp
from dpaudit.auditors.games.candidates.scores import calibrate, categories, learners


def shifted(kind: str, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs of a bit in noise, coins, and the true log-odds."""
    rng = np.random.default_rng(seed)
    coins = rng.random(runs) < 0.5
    if kind == "laplace":
        outputs = coins + rng.laplace(size=runs)
        return outputs, coins, np.abs(outputs) - np.abs(outputs - 1)
    outputs = coins + rng.normal(size=runs)
    return outputs, coins, outputs - 0.5


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_ramp_finds_the_log_odds_of_a_shift(kind: str) -> None:
    """Within .15 in the middle 98 % (a standard error is about .03); of coins that mean nothing it learns next to nothing."""
    outputs, coins, odds = shifted(kind, 20_000, 1)
    middle = np.abs(outputs - 0.5) < np.quantile(np.abs(outputs - 0.5), 0.98)
    learned = fit_ramp(outputs, coins, 0)[0](outputs[:, None])
    assert np.abs(learned - odds)[middle].max() < 0.15
    unrelated = np.random.default_rng(2).random(20_000) < 0.5
    assert np.abs(fit_ramp(outputs, unrelated, 0)[0](outputs[:, None]))[middle].max() < 0.15


def test_the_tails_of_a_ramp_stay_linear_until_the_data_says_otherwise() -> None:
    outputs, coins, _ = shifted("gaussian", 5000, 3)
    straight, _ = fit_ramp(outputs, coins, 0)
    assert (straight.low, straight.high) == (outputs.min(), outputs.max())
    outputs, coins, _ = shifted("laplace", 20_000, 3)
    bent, _ = fit_ramp(outputs, coins, 0)
    assert -0.3 < bent.low < 0.3 < 0.7 < bent.high < 1.3


def test_regressions_are_at_the_maximum_of_their_penalised_likelihood() -> None:
    """By the gradient, which is written down anew here; in blocks or at once makes no difference."""
    rng = np.random.default_rng(4)
    x = np.concatenate([np.ones((5003, 1)), rng.normal(size=(5003, 6))], axis=1)
    ones = rng.binomial(3, expit(x @ np.linspace(-1, 1, 7))) * 1.0
    weights = scores.fit_logistic(x, ones, np.full(5003, 3.0))
    gradient = x.T @ (ones - 3 * expit(x @ weights)) - weights
    assert np.abs(gradient).max() < 1e-3
    a, b = scores._line(x[:, 1] * 50, ones > 1)
    both = scores.fit_logistic(x[:, :2], (ones > 1) * 1.0, np.ones(5003))
    assert (a, 50 * b) == pytest.approx(tuple(both), rel=1e-2)


def test_log_odds_are_left_alone_and_overconfident_ones_brought_down() -> None:
    _, coins, odds = shifted("laplace", 20_000, 5)
    intercept, slope = calibrate(odds, coins)
    assert slope == 1.0
    assert abs(intercept) < 0.05
    intercept, slope = calibrate(3 * odds + 1, coins)
    assert slope == pytest.approx(1 / 3, rel=0.1)
    assert expit(intercept + slope * (3 * odds + 1)).mean() == pytest.approx(0.5, abs=1e-6)  # the coin is fair


def test_categories_are_shrunken_and_unknown_ones_decide_nothing() -> None:
    coins = np.arange(100) % 2 == 0
    table = np.stack([np.where(coins, 1.0, 2.0), np.arange(100) % 3], axis=1)
    score = categories(table, coins, [0, 1])
    assert score(np.array([[1.0, 0.0]]))[0] == pytest.approx(math.log(18 / 50) - math.log(1 / 50))
    assert score(np.array([[1.0, 7.0], [0.5, 0.0], [3.0, 1.0]])).tolist() == [0, 0, 0]


def test_discrete_rows_are_told_apart_by_all_of_their_columns() -> None:
    """Neither bit alone says anything: their sum modulo 2 is the coin. The twin's coin is unrelated."""
    rng = np.random.default_rng(6)
    table = rng.integers(0, 2, (4000, 2)) * 1.0
    related, unrelated = table.sum(axis=1) % 2 == 1, rng.random(4000) < 0.5
    for coins, tells in ((related, True), (unrelated, False)):
        scores = [learn(table[:2000], coins[:2000])(table[2000:]) for learn in learners(table, coins)]
        right = [((score > 0) == coins[2000:]).mean() for score in scores]
        assert bool(max(right) == 1.0) is tells
        assert tells or max(right) < 0.56  # five standard errors


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_constant_columns_say_nothing(columns: int) -> None:
    coins = np.random.default_rng(7).random(400) < 0.5
    table = np.ones((400, columns))
    assert all(np.ptp(learn(table, coins)(table)) == 0 for learn in learners(table, coins))


def test_more_combinations_than_a_number_can_hold_are_left_to_the_regression() -> None:
    rng = np.random.default_rng(8)
    table = rng.integers(0, 2, (500, 70)) * 1.0
    coins = table[:, 3] == 1
    best = max(((learn(table, coins)(table) > 0) == coins).mean() for learn in learners(table, coins))
    assert best > 0.99


def test_a_column_of_one_value_has_a_flat_ramp() -> None:
    """A part of the training may see one value alone, where another part sees several."""
    coins = np.arange(50) % 3 == 0
    ramp, _ = fit_ramp(np.ones(50), coins, 0)
    assert len(set(ramp(np.array([[0.0], [1.0], [2.0]])).tolist())) == 1
