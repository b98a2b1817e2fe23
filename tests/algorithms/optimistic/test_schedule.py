"""Stages double, cover the horizon, and leave the right constants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from algorithms.optimistic.schedule import NOISE_GROWTH, Model, Schedule, batch_lengths, stages


@pytest.mark.parametrize(("first", "horizon"), [(48, 10**6), (20, 20), (20, 21), (64, 64 * 1024), (64, 64 * 1024 + 1), (50, 3)])
def test_the_last_stage_is_the_least_that_covers_the_horizon(first, horizon):
    count = stages(first, horizon)
    totals = np.cumsum(batch_lengths(first, count))
    assert totals[-1] >= horizon
    assert count == 1 or totals[-2] < horizon
    assert list(totals) == [first * 2**k for k in range(count)]


def test_noise_growth_bounds_the_logarithm_up_to_its_reach_and_not_beyond():
    x = np.linspace(1e-9, 0.49, 1000)
    assert (-np.log1p(-x) <= NOISE_GROWTH * x * (1 + 1e-12)).all()
    assert -math.log1p(-0.5) > NOISE_GROWTH * 0.5


def test_the_ridge_covers_the_mixture_of_central_noise_and_is_twenty_without():
    noisy = Schedule(Model(48, 2.0, (1.0,) * 20), 10**6, 10, 2)
    most = noisy.radius_start + 2 * math.log1p(10**6 / (2 * noisy.ridge))
    assert (math.sqrt(most) + 2) / math.sqrt(noisy.ridge) <= 0.7 / 2
    assert Schedule(Model(48, 0.0, (1.0,) * 20), 10**6, 10, 2).ridge == 20


def test_batches_are_bounded_by_stages_and_by_the_horizon():
    assert Schedule(Model(48, 2.0, (1.0,) * 20), 10**4, 5, 2).most_batches == 5 * 9 + 1
    assert Schedule(Model(48, 2.0, (1.0,) * 20), 10**4, 10**4, 2).most_batches == 208 + 1
