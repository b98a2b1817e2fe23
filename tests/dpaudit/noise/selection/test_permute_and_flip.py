"""Permute and flip: never a worse expected score than the exponential mechanism (McKenna, Sheldon 2020, Thm 2)."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.noise import Exponential, PermuteAndFlip


@pytest.mark.parametrize("scores", [(0, 1), (3, 1, 0), (5, 5, 2, 0), (0, 0, 0)])
def test_its_expected_score_is_at_least_that_of_the_exponential_mechanism(scores: tuple[int, ...]) -> None:
    flipped, chosen = (np.exp(kind(2, 1).log_law(scores)) @ np.array(scores) for kind in (PermuteAndFlip, Exponential))
    assert flipped >= chosen - 1e-12
    assert (flipped > chosen + 1e-6) == (len(set(scores)) > 1)
