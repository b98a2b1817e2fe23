"""Bits of a line through the reward: their law is the same drawn one by one and as a sum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from algorithms.baselines.linear.parts.weighted_bits import WeightedBits
from algorithms.elimination.pulls import Pulls
from algorithms.rewards import ConstantExceptOne, Sequence

TRIALS, ROUNDS = 4000, 30


def counts_of(rewards, constant):
    pulls = Pulls(np.zeros(TRIALS, int), np.zeros((TRIALS, 1), int), np.full((TRIALS, 1), ROUNDS), np.arange(TRIALS))
    bits = WeightedBits(rewards, pulls, np.random.default_rng(2), np.full(TRIALS, 0.6), np.full(TRIALS, constant))
    return bits.sum_units(Fraction(1)).ravel()


@pytest.mark.parametrize("constant", [0.0, -0.3])
def test_bits_one_by_one_and_their_sum_have_one_mean(constant):
    """One round of +1 among rounds of −½; standard error of each mean below .045."""
    values = np.full(ROUNDS, -0.5)
    values[3] = 1.0
    expected = 0.5 * (ROUNDS * (1 + constant) + 0.6 * values.sum())
    for rewards in (Sequence(values), ConstantExceptOne(-0.5, 3, 1.0)):
        assert abs(counts_of(rewards, constant).mean() - expected) < 0.25
