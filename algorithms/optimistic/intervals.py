"""Chernoff intervals for one action's mean after its k-th release (Lemma 2), and their largest width (Lemma 6).

u_k(Y) = min over λ of [ch_k − exp(−(λY + N_k + L)/M_k)]/sh_k is increasing in Y for every λ, so that {u_k(Y) < μ} is one event
{Y < y*} with a λ that depends on μ and k alone: no union over the grid of λ. The tables must not depend on the path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algorithms.optimistic.schedule import Schedule

SLACK = 1e-9  # added to every bound for the rounding of floats
_STEPS = np.arange(-8, 17) / 4  # the grid of λ in powers of two around λ_k
_EXPONENT = 700.0  # e^700 is a float; no admissible statistic comes near it


@dataclass(frozen=True)
class Tables:
    """One row per stage, one column per λ."""

    rates: np.ndarray  # λ > 0, below 1/b
    even: np.ndarray  # ch_k = Σ_j m_j cosh(λC_j)/M_k
    odd: np.ndarray  # sh_k = Σ_j m_j sinh(λC_j)/(C_j M_k)
    noise: np.ndarray  # N_k = −k log(1 − b²λ²)
    totals: np.ndarray  # M_k, one column


@dataclass(frozen=True)
class Intervals:
    """The intervals of one schedule. ``level`` is L."""

    schedule: Schedule

    @cached_property
    def tables(self) -> Tables:
        schedule, rates = self.schedule, self._rates()
        lengths, totals, sizes = schedule.lengths, schedule.totals[:, None].astype(float), schedule.amplitudes
        scaled = rates[:, None, :] * sizes[None, :, None]  # (stage k, earlier stage j, λ)
        weights = np.tril(np.broadcast_to(lengths, (len(lengths), len(lengths)))) / totals
        even = np.einsum("kj,kjg->kg", weights, np.cosh(scaled))
        odd = np.einsum("kj,kjg->kg", weights / sizes, np.sinh(scaled))
        stage = np.arange(1, len(lengths) + 1)[:, None]
        noise = -stage * np.log1p(-((schedule.model.noise * rates) ** 2))
        return Tables(rates, even, odd, noise, totals)

    def _rates(self) -> np.ndarray:
        """λ_k 2^(j/4), capped; for reports also √(2L/M_k)/C_1, by which Lemma 6 bounds the width."""
        schedule, b, level = self.schedule, self.schedule.model.noise, self.schedule.level
        stage = np.arange(1, schedule.stages + 1)
        spread = np.cumsum(schedule.lengths * schedule.amplitudes**2) + 4 * math.log(2) * stage * b**2
        centre = np.sqrt(2 * level / spread)
        if b:
            centre = np.minimum(centre, 1 / (math.sqrt(2) * b))
        cap = np.maximum(centre, 0.97 / b if b else 6 / schedule.amplitudes[0])
        grid = np.minimum(centre[:, None] * 2.0**_STEPS, cap[:, None])
        if b:
            return grid
        return np.hstack([grid, (np.sqrt(2 * level / schedule.totals) / schedule.amplitudes[0])[:, None]])

    def upper(self, stage: np.ndarray, statistic: np.ndarray, *levels: float) -> list[np.ndarray]:
        """u_k(Y) at each of these levels L, for one axis of entries; ``stage`` counts from 1. From −2, below every mean, to 1."""
        tables, row = self.tables, np.asarray(stage) - 1
        totals = tables.totals[row].T
        exponent = -(tables.rates.T[:, row] * statistic + tables.noise.T[:, row]) / totals
        factor = np.exp(np.clip(exponent, -_EXPONENT, _EXPONENT))
        even, odd = tables.even.T[:, row], tables.odd.T[:, row]
        bounds = (((even - factor * np.exp(-level / totals)) / odd).min(axis=0) for level in levels)
        return [np.clip(bound + SLACK, -2.0, 1.0) for bound in bounds]

    def ends(self, stage: np.ndarray, statistic: np.ndarray, *levels: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """[−u_k(−Y), u_k(Y)] at each level; at L of the schedule without one."""
        chosen = levels or (self.schedule.level,)
        lower, upper = self.upper(stage, -statistic, *chosen), self.upper(stage, statistic, *chosen)
        return [(-low, high) for low, high in zip(lower, upper, strict=True)]

    def widths(self) -> np.ndarray:
        """W_k: no interval of stage k is wider, whatever Y is (Lemma 6; before rounding)."""
        tables = self.tables
        widest = 2 * (tables.even - np.exp(-(tables.noise + self.schedule.level) / tables.totals)) / tables.odd
        result: np.ndarray = widest.min(axis=1)
        return result
