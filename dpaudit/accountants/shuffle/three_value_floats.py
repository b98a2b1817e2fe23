"""Summands with three values in floats: for searches, never for bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from dpaudit.accountants.numerics.contour import Complexes, estimate, log1p, saddle

_FEW = 40.0  # tilted number of reports up to which an estimate sums over the counts of both values
_REACH = 7.5  # standard deviations of the counts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ThreeFloats:
    """G is ``plus`` or ``minus`` with probability ``weight`` each, else ``idle`` (with probability ``rest``)."""

    n: int
    weight: float
    plus: float
    minus: float
    idle: float
    mean: float
    rest: float

    @property
    def top(self) -> float:
        return self.plus

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        return (self.weight, self.plus), (self.weight, self.minus), (max(self.rest, 0.0), self.idle)

    def cumulants(self, c: float) -> tuple[float, float, float]:
        w, rest, plus, minus, idle = self.weight, max(self.rest, 0.0), self.plus, self.minus, self.idle
        try:
            x, y, z = math.expm1(c * plus), math.expm1(c * minus), math.expm1(c * idle)
        except OverflowError:
            return math.inf, math.inf, math.inf
        if c * max(plus, -minus) > 1:
            excess = w * (x + y) + rest * z
            first = w * (plus * (1 + x) + minus * (1 + y)) + rest * idle * (1 + z)
        else:  # with the exact mean, which the atoms give up to rounding only
            excess = c * self.mean + w * ((x - c * plus) + (y - c * minus)) + rest * (z - c * idle)
            first = self.mean + w * (plus * x + minus * y) + rest * idle * z
        first /= 1 + excess
        second = (w * (plus * plus * (1 + x) + minus * minus * (1 + y)) + rest * idle * idle * (1 + z)) / (1 + excess)
        return math.log1p(excess), first, second - first**2

    def tilted_powers(self, c: float) -> tuple[float, float, float, float]:
        atoms = [(w * math.exp(c * g), g) for w, g in self.atoms]
        phi = sum(w for w, _ in atoms)
        m1, m2, m3, m4 = (sum(w * g**k for w, g in atoms) / phi for k in (1, 2, 3, 4))
        return m1, m2, m3, m4

    def log_moment(self, z: Complexes) -> Complexes:
        direct = float(z[0].real) * max(self.plus, -self.minus) > 1
        excess = z * (0.0 if direct else self.mean)
        for w, g in self.atoms:
            excess = excess + w * (np.expm1(z * g) - (0.0 if direct else z * g))
        return log1p(excess)

    def log_delta(self, near: float | None = None) -> float:
        """log of E[S_+]/n. ``near`` as in ``saddle``."""
        at = saddle(self, near)
        shift = math.exp(at.peak / self.n)
        plus, minus = (self.n * self.weight * math.exp(at.c * g) / shift for g in (self.plus, self.minus))
        return self._counted(plus, minus) if plus + minus < _FEW else estimate(self, at.c * self.plus)

    def _counted(self, plus: float, minus: float) -> float:
        """The sum over both counts, in a window around their tilted means."""
        a, b = (self._window(mean) for mean in (plus, minus))
        total = np.add.outer(a, b)
        chance = -np.add.outer(_log_factorial(a), _log_factorial(b)) + total * math.log(self.weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            ordered = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(self.n - np.arange(int(total.max())), 0.0)))])
            chance += ordered[total.astype(np.int64)] + (self.n - total) * (
                math.log1p(-2 * self.weight) if self.weight < 0.5 else -math.inf
            )
        sums = self.n * self.idle + np.add.outer(a * (self.plus - self.idle), b * (self.minus - self.idle))
        counted = (sums > 0) & np.isfinite(chance)
        if not counted.any():
            return -math.inf
        peak = float(chance[counted].max())
        return peak + math.log(float(np.exp(chance[counted] - peak) @ sums[counted])) - math.log(self.n)

    def _window(self, mean: float) -> Floats:
        half = _REACH * math.sqrt(mean) + _REACH
        return np.arange(max(0, math.floor(mean - half)), min(self.n, math.ceil(mean + half)) + 1, dtype=np.float64)


def _log_factorial(counts: Floats) -> Floats:
    return np.asarray(gammaln(counts + 1), dtype=np.float64)
