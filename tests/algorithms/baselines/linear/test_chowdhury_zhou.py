"""Chowdhury and Zhou's batches and noise at known values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from algorithms.baselines.linear.chowdhury_zhou import ChowdhuryZhou


def test_batches_and_noise_follow_the_horizon():
    system = ChowdhuryZhou(Fraction(1), Fraction(1, 10**6), 10**5, 2)
    assert system.batch == 1000
    assert math.isclose(system.size, 4 * math.sqrt(2 * math.log(2.5e9) * math.log(2e6)) / math.sqrt(1000))
    assert system.length(np.array([0, 5000]), np.ones(2)).tolist() == [1000, 1000]
