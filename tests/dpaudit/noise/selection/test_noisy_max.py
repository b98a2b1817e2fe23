"""Noisy max: ties on the grid go to the first, and certified probabilities add up to 1."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.noise import NoisyMax


def test_of_equal_noisy_scores_the_first_wins() -> None:
    law = np.exp(NoisyMax(1, 1).log_law((0, 0, 0)))
    assert law[0] > law[1] > law[2]
    assert law.sum() == pytest.approx(1)
    assert NoisyMax(1, 1).without_noise(np.array([2, 2, 1])) == 0


def test_a_fine_grid_hardly_ties() -> None:
    law = np.exp(NoisyMax(1).log_law((0, 0)))
    assert 0 < law[0] - law[1] < 2**-19
