"""Garcelon's coordinates as bits: their law is the same drawn one by one and as a sum, and reports are unbiased."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms.baselines.linear.garcelon import Garcelon, WeightedBits
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import ConstantExceptOne, Sequence

TRIALS, ROUNDS = 4000, 30


def counts_of(rewards):
    pulls = Pulls(np.zeros(TRIALS, int), np.zeros((TRIALS, 1), int), np.full((TRIALS, 1), ROUNDS), np.arange(TRIALS))
    bits = WeightedBits(rewards, pulls, np.random.default_rng(2), np.full(TRIALS, 0.6))
    return bits.sum_units(Fraction(1)).ravel()


def test_bits_one_by_one_and_their_sum_have_one_mean():
    """One round of +1 among rounds of −½; standard error of each mean below .045."""
    values = np.full(ROUNDS, -0.5)
    values[3] = 1.0
    expected = 0.5 * (ROUNDS + 0.6 * values.sum())
    for rewards in (Sequence(values), ConstantExceptOne(-0.5, 3, 1.0)):
        assert abs(counts_of(rewards).mean() - expected) < 0.25


def test_reported_squares_are_unbiased_and_symmetric():
    system, points = Garcelon(Fraction(1), Fraction(1, 10**6), 10**6, 2), np.tile([0.6, -0.8], (TRIALS, 1))
    squares = system.squares(points, np.full(TRIALS, 50), np.random.default_rng(3))
    assert np.allclose(squares, np.swapaxes(squares, 1, 2))
    error = 6 * system.size * np.sqrt(50 / TRIALS)
    assert np.abs(squares.mean(axis=0) - 50 * np.outer(points[0], points[0])).max() < error
