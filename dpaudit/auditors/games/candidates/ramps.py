"""Ramps: log-odds that are constant, then linear, then constant in one column of a transcript."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

BEND = 3.0  # nats that an end of a ramp inside the data must be worth: tails are linear until shown otherwise
_KNOTS = np.array([0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.99])


@dataclass(frozen=True)
class Ramp:
    """Log-odds that are constant, then linear, then constant in one column: exact for Laplace and Gaussian shifts."""

    column: int
    low: float
    high: float
    intercept: float
    slope: float

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return np.asarray(self.intercept + self.slope * np.clip(table[:, self.column], self.low, self.high))


@dataclass(frozen=True)
class _Binned:
    """A column in 200 quantile bins: mean value, and how often each side was in it."""

    values: np.ndarray
    ones: np.ndarray
    zeros: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, coins: np.ndarray) -> _Binned:
        edges = np.unique(np.quantile(values, np.linspace(0, 1, 201)[1:-1]))
        codes = np.searchsorted(edges, values, side="right")
        ones, zeros = (np.bincount(codes[side], minlength=len(edges) + 1) for side in (coins, ~coins))
        sums = np.bincount(codes, values, minlength=len(edges) + 1)
        used = ones + zeros > 0
        return cls(sums[used] / (ones + zeros)[used], ones[used], zeros[used])

    @property
    def total(self) -> np.ndarray:
        return self.ones + self.zeros

    def fit(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Intercepts, slopes and log-likelihoods of the ramps from low[k] to high[k], all at once by Newton's method."""
        x = np.clip(self.values, low[:, None], high[:, None])
        centre, spread = x.mean(axis=1, keepdims=True), np.maximum(x.std(axis=1, keepdims=True), 1e-300)
        z = (x - centre) / spread
        a, b = np.zeros(len(low)), np.zeros(len(low))
        for _ in range(8):
            p = expit(a[:, None] + b[:, None] * z)
            error, weight = self.ones - self.total * p, self.total * p * (1 - p)
            g0, g1 = error.sum(axis=1) - a, (error * z).sum(axis=1) - b
            h00, h01, h11 = weight.sum(axis=1) + 1, (weight * z).sum(axis=1), (weight * z * z).sum(axis=1) + 1
            determinant = h00 * h11 - h01**2
            a = np.clip(a + (h11 * g0 - h01 * g1) / determinant, -30, 30)
            b = np.clip(b + (h00 * g1 - h01 * g0) / determinant, -30, 30)
        odds = a[:, None] + b[:, None] * z
        fit = -(self.ones * np.logaddexp(0, -odds) + self.zeros * np.logaddexp(0, odds)).sum(axis=1)
        slope = b / spread[:, 0]
        return a - slope * centre[:, 0], slope, fit


def fit_ramp(values: np.ndarray, coins: np.ndarray, column: int) -> tuple[Ramp, float]:
    """The likeliest ramp and its log-likelihood: coarse ends first, then finer ones around the best."""
    binned = _Binned.of(values, coins)
    ends = np.concatenate([[values.min()], np.unique(np.quantile(values, _KNOTS)), [values.max()]])
    low, high = (ends[side] for side in np.triu_indices(len(ends), 1))
    for _ in range(2):
        intercept, slope, fit = binned.fit(low, high)
        best = int((fit - BEND * ((low > ends[0]) * 1.0 + (high < ends[-1]))).argmax())
        likeliest = (
            Ramp(column, float(low[best]), float(high[best]), float(intercept[best]), float(slope[best])),
            float(fit[best]),
        )
        fine = [np.linspace(*_around(ends, end), 9) for end in (low[best], high[best])]
        low, high = (side.ravel() for side in np.meshgrid(*fine))
        low, high = low[low < high], high[low < high]
        if not len(low):  # one value alone: nothing is between its ends
            break
    return likeliest


def _around(ends: np.ndarray, end: float) -> tuple[float, float]:
    place = int(np.searchsorted(ends, end))
    return float(ends[max(place - 1, 0)]), float(ends[min(place + 1, len(ends) - 1)])
