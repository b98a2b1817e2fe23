"""Intervals: exact coverage, monotone ends, and the width that no statistic exceeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from algorithms.optimistic.intervals import Intervals
from algorithms.optimistic.schedule import Model, Schedule


def intervals(noise: float = 2.0, amplitudes: tuple[float, ...] | None = None, horizon: int = 2000) -> Intervals:
    return Intervals(Schedule(Model(20, noise, amplitudes or (1.0,) * 12), horizon, 5, 2))


def miss(law: Intervals, stage: int, mean: float, noise: float, level: float) -> float:
    """P(u_k(Y) < μ) exactly but for the grid of the noise: Y = 2 Bin(M, (1+μ)/2) − M and k Laplace noises, by convolution."""
    pulls, step = int(law.schedule.totals[stage - 1]), 0.05
    counts = np.arange(pulls + 1)
    reach = int(60 * noise / step)
    line = np.exp(-np.abs(np.arange(-reach, reach + 1)) * step / noise)
    line /= line.sum()
    total = line
    for _ in range(stage - 1):
        total = np.convolve(total, line)
    noises = (np.arange(len(total)) - len(total) // 2) * step
    sums = (2 * counts - pulls)[:, None] + noises
    below = law.upper(np.full(sums.size, stage), sums.ravel(), level)[0].reshape(sums.shape) < mean
    return float(binom.pmf(counts, pulls, (1 + mean) / 2) @ (below * total).sum(axis=1))


@pytest.mark.parametrize("stage", [1, 2])
@pytest.mark.parametrize("mean", [-0.8, 0.0, 0.6, 0.95])
def test_an_end_misses_with_probability_at_most_e_to_minus_level(stage, mean):
    assert 0 < miss(intervals(), stage, mean, 2.0, 3.0) <= math.exp(-3.0)


def test_intervals_made_for_less_noise_miss_too_often():
    """The twin: tables for b = 1/4 where the noise is b = 8 (b = 2/ε taken for one 32 times as large an ε)."""
    assert miss(intervals(noise=0.25), 1, 0.0, 8.0, 3.0) > math.exp(-3.0)


def test_ends_grow_with_the_statistic_and_meet_no_earlier_than_the_mean():
    law, values = intervals(), np.linspace(-45, 45, 400)
    [(low, high)] = law.ends(np.full(400, 2), values)
    assert (np.diff(high) >= 0).all()
    assert (np.diff(low) >= 0).all()
    assert (low <= np.maximum(values / 40, -1) + 1e-9).all()
    assert (high >= np.minimum(values / 40, 1) - 1e-9).all()


@pytest.mark.parametrize("amplitudes", [None, tuple(1 + 1 / k for k in range(1, 13))])
def test_no_statistic_gives_a_wider_interval_than_the_table_says(amplitudes):
    law = intervals(0.0 if amplitudes else 2.0, amplitudes)
    schedule, widths = law.schedule, law.widths()
    for stage in range(1, schedule.stages + 1):
        values = np.linspace(-1.2, 1.2, 301) * schedule.totals[stage - 1]
        [(low, high)] = law.ends(np.full(301, stage), values)
        assert (high - low <= widths[stage - 1] + 3e-9).all()
        pulls, level, b = schedule.totals[stage - 1], schedule.level, schedule.model.noise
        closed = schedule.amplitudes[0] * math.sqrt(8 * level / pulls) if amplitudes else None
        bound = closed or math.sqrt(8 * level / pulls) + 4 * math.sqrt(2) * b * level / pulls
        assert widths[stage - 1] <= bound * (1 + 1e-12)


def test_outputs_of_any_size_give_finite_ends():
    [(low, high)] = intervals().ends(np.array([1, 2]), np.array([1e15, -1e15]))
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
