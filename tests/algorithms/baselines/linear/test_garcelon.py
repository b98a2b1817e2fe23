"""Garcelon's coordinates as bits: what is reported of xxᵀ is unbiased."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms.baselines.linear.garcelon import Garcelon

TRIALS = 4000


def test_reported_squares_are_unbiased_and_symmetric():
    system, points = Garcelon(Fraction(1), Fraction(1, 10**6), 10**6, 2), np.tile([0.6, -0.8], (TRIALS, 1))
    squares = system.squares(points, np.full(TRIALS, 50), np.random.default_rng(3))
    assert np.allclose(squares, np.swapaxes(squares, 1, 2))
    error = 6 * system.size * np.sqrt(50 / TRIALS)
    assert np.abs(squares.mean(axis=0) - 50 * np.outer(points[0], points[0])).max() < error
