"""Han's gradients: the ball mechanism has the right mean and moments, is private, and finds θ."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms.baselines.linear.han_gradient import RADIUS, HanGradient
from algorithms.baselines.registry import make_baseline
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import Sequence, Stochastic

SYSTEM = HanGradient(Fraction(1), 3)
TRIALS, ROUNDS = 4000, 50


def sphere(n: int, rng: np.random.Generator) -> np.ndarray:
    points = rng.standard_normal((n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1.05, False)])
def test_the_size_makes_the_mean_right(factor, passes):
    """Points of the sphere, drawn one by one: on x's side with probability e/(1 + e). 400,000 draws, 5σ."""
    rng, n = np.random.default_rng(1), 400_000
    points = sphere(n, rng)
    side = np.where(rng.random(n) < np.e / (1 + np.e), 1.0, -1.0)
    sent = factor * SYSTEM.size * points * (np.sign(points[:, 0]) * side)[:, None]
    error = sent.std(axis=0) / np.sqrt(n)
    assert bool((np.abs(sent.mean(axis=0) - [RADIUS, 0, 0]) < 5 * error).all()) == passes


def test_sums_of_a_block_have_the_moments_of_points_drawn_one_by_one():
    rng, x = np.random.default_rng(2), np.array([0.0, 0.6, 0.8])
    ups = rng.binomial(ROUNDS, 0.7, TRIALS)
    blocks = np.empty((TRIALS, 3))
    for row, up in enumerate(ups):
        points = sphere(ROUNDS, rng)
        side = np.where(np.arange(ROUNDS) < up, 1.0, -1.0)
        blocks[row] = SYSTEM.size * (points * (np.sign(points @ x) * side)[:, None]).sum(axis=0)
    statistic = (2 * ups - ROUNDS) / np.tanh(0.5)
    drawn = SYSTEM.points(np.tile(x, (TRIALS, 1)), np.full(TRIALS, ROUNDS), statistic, rng)
    scale = SYSTEM.size * np.sqrt(ROUNDS)
    assert np.abs(drawn.mean(axis=0) - blocks.mean(axis=0)).max() < 5 * scale * np.sqrt(2 / TRIALS)
    assert np.abs(np.cov(drawn.T) - np.cov(blocks.T)).max() < 0.15 * scale**2


def test_clients_report_their_gradient_without_bias_whichever_way_they_are_drawn():
    """E = n(⟨x, θ⟩ − y)|x|/r: with every report, from rewards in a sequence, and from the simulated environment."""
    x, theta, n = np.array([0.6, 0.0, 0.0]), np.array([0.5, 0.5, 0.0]), 40
    told = np.tile(np.concatenate([x, theta]), (TRIALS, 1))
    pulls = Pulls(np.zeros(1, int), np.zeros((1, 1), int), np.full((1, 1), n), np.zeros(TRIALS, int))
    expected = n * (0.3 - 0.25) * 0.6 / RADIUS
    rng = np.random.default_rng(3)
    for every, rewards in ((True, Sequence(np.full(n, 0.25))), (False, Stochastic(np.array([0.25]), rng))):
        with dp.simulate(3, trials=TRIALS, every_report=every) as channel:
            sums = SYSTEM.statistic(channel, rewards.at(np.arange(TRIALS)), pulls, 1, told)
        assert abs(sums.mean() - expected) < 5 * sums.std() / np.sqrt(TRIALS)
        assert sums.std() > 0


def test_with_many_contexts_greedy_gradients_find_the_parameter():
    """Chance has regret of about 18,000 here; one context can mislead a greedy policy."""
    subject = make_baseline("han-gradient", 8, None, 20_000, None, "printed", 4)
    with dp.simulate(1, trials=40) as channel:
        result = subject.evaluate(channel, np.random.default_rng(1))
    assert result["regret"] + 4 * result["error"] < 4000
