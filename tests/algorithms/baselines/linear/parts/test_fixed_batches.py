"""Fixed batches: their length, and a shift and width that grow with the noise of all reports so far."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from algorithms.baselines.linear.chowdhury_zhou import ChowdhuryZhou
from algorithms.baselines.linear.garcelon import Garcelon
from algorithms.baselines.linear.parts.confidence_bandit import noisy_shift, noisy_width


@pytest.mark.parametrize("kind", [ChowdhuryZhou, Garcelon])
def test_shift_and_width_are_those_of_the_noise_so_far(kind):
    system, time, growth = kind(Fraction(1), Fraction(1, 10**6), 10**5, 2), np.array([0, 50_000]), np.array([0.0, 3.0])
    assert system.length(time, np.ones(2)).tolist() == [system.batch] * 2
    spread = system.size * np.sqrt([system.batch, 50_000])
    assert np.allclose(system.shift(time), 2 * noisy_shift(spread, 2, 10**5))
    assert np.allclose(system.width(time, growth), noisy_width(spread, growth, 2, 10**5))
