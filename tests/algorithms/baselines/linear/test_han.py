"""Han's least squares is greedy and doubles its batches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms.baselines.linear.han import Han


def test_batches_double_and_there_is_no_bonus():
    system, time = Han(Fraction(1), Fraction(1, 10**6), 10**6, 2), np.array([0, 64, 128])
    assert system.length(time, np.ones(3)).tolist() == [64, 64, 128]
    assert not system.width(time, np.ones(3)).any()
