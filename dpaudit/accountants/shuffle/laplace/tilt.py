"""Which nodes of the contour may be skipped for Laplace reports: bounds on their moment function beside the real line."""

from __future__ import annotations

import math
from typing import Any, Protocol

import flint
import numpy as np
import numpy.typing as npt

from dpaudit.accountants.numerics.contour import SKIP
from dpaudit.accountants.shuffle.few_values import PairLoss
from dpaudit.accountants.shuffle.laplace.lattice import Lattice

_NODES = 300  # worth evaluating; beyond them the smoothing takes over


class LaplaceLaw(Protocol):
    """What is needed of contour_law.py."""

    @property
    def lattice(self) -> Lattice: ...

    @property
    def n(self) -> int: ...

    @property
    def e(self) -> Any: ...

    @property
    def empty(self) -> Any: ...

    @property
    def ends(self) -> list[tuple[Any, Any]]: ...

    @property
    def series_reach(self) -> float: ...

    def moment(self, z: Any) -> Any: ...


class Tilted:
    """Three reasons why |φ(c+it)| is below φ(c): the ends and the idle value disagree in phase; the inner
    points are spread over many turns (Kuzmin and Landau); or φ itself, evaluated at both ends of a short
    interval, says so: φ is within (high−low)²/8 · φ''(c) of the chord between them."""

    def __init__(self, law: LaplaceLaw, c: float) -> None:
        self.law, self.c = law, c
        cells = law.lattice
        self.top = math.exp(float(cells.epsilon0))
        self.peak = law.moment(flint.acb(c)).real
        self.total = float(self.peak.upper()) * (1 + 1e-12)
        ends = [(float(weight), float(value)) for weight, value in law.ends]
        tilted = [(weight * math.exp(c * value) * (1 - 1e-12), value) for weight, value in ends]
        self.pairs = PairLoss((*tilted, (float(law.empty.lower()), 0.0)), self.total)
        self.bend = self._bend()
        self.lost: dict[float, float] = {}  # 1 − |φ(c+it)|/φ(c) at t, rounded down
        self.turning = math.pi / (self.top * math.expm1(2 * float(cells.a))) * (1 - 1e-9)
        self.full, self.spread = self._halves()
        self.series = 0.99 * law.series_reach / self.top - c
        spread = 0 < self.series < self.turning and law.n * self._spread_loss(self.series) >= SKIP
        self.reach = self.turning if spread else self.series
        self.nodes = self.attempts = _NODES

    def loss(self, low: float, high: float) -> float:
        need = SKIP / self.law.n
        found = self.pairs.loss(low, high)
        if found < need and high <= self.turning:
            found = max(found, self._spread_loss(low))
        bend = (high - low) ** 2 / 8 * self.bend
        if found < need and high < self.series and bend < 0.5:
            found = max(found, min(self._lost(low), self._lost(high)) - bend)
        return found

    def _lost(self, t: float) -> float:
        if t not in self.lost:
            size = self.law.moment(flint.acb(self.c, t)).abs_upper()
            self.lost[t] = float(((self.peak - size) / self.peak).lower()) * (1 - 1e-12) - 1e-300
        return self.lost[t]

    def _halves(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The inner points with u ≥ u0 have phases t·u with increasing steps, at least Λ = t·u0·(e^{2a}−1) and at most π, so
        their plain sum is below 4/Λ (Kuzmin and Landau), and the weighted one below that times the largest weight (Abel, once
        for u^{-1/2} and once for e^{cu}). Their full weight and t times that bound, for u0 = e^ε0 / 2, e^ε0 / 4, …"""
        cells, e, found = self.law.lattice, float(self.law.e), []
        a, epsilon0 = float(cells.a), float(cells.epsilon0)
        kappa = math.tanh(a / 2)
        for j in range(1, 2 + int((2 if cells.whole else 1) * epsilon0 / math.log(2))):
            u0 = max(self.top / 2**j, 1 / self.top if cells.whole else 1.0)
            count = min(cells.inner, math.floor((cells.steps - math.log(u0) / a) / 2 - 1e-6))
            full = kappa * math.exp(a - epsilon0 + self.c * (u0 - e)) * math.expm1(a * count) / math.expm1(a)
            largest = kappa * math.exp(self.c * (self.top - e) - epsilon0 / 2) / math.sqrt(u0)
            found.append((full, largest * 4 / (u0 * math.expm1(2 * a))))
        parts = np.asarray(found)
        return parts[:, 0], parts[:, 1]

    def _spread_loss(self, t: float) -> float:
        return max(0.0, float((self.full - self.spread / t).max())) / self.total * (1 - 1e-9)

    def _bend(self) -> float:
        """φ''(c)/φ(c) ≤ (φ(c+η) − 2φ(c) + φ(c−η))/(η² φ(c)) because cosh x − 1 ≥ x²/2; rounded up."""
        eta = flint.arb(0.3 / (self.top * float(self.law.e)))
        around = sum((self.law.moment(flint.acb(flint.arb(self.c) + x)).real for x in (eta, -eta)), flint.arb(0))
        return float(((around - 2 * self.peak) / eta**2 / self.peak).upper()) * (1 + 1e-12)
