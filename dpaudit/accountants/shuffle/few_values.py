"""Laws with few values: what one report adds to the sum whose positive part is δ(ε), for randomisers on a finite alphabet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.numerics.contour import Complexes, Tilt, log1p
from dpaudit.accountants.shuffle.three_values import PairLoss

Atoms = tuple[tuple[Any, Any], ...]  # (weight, value)


@dataclass(frozen=True)
class FewFloats:
    """G in floats: for searches, never for bounds."""

    n: int
    atoms: tuple[tuple[float, float], ...]
    mean: float
    empty: float

    @property
    def top(self) -> float:
        return max(value for _, value in self.atoms)

    @property
    def active(self) -> float:
        return math.fsum(weight for weight, _ in self.atoms)

    def cumulants(self, c: float) -> tuple[float, float, float]:
        try:
            rises = [math.expm1(c * g) for _, g in self.atoms]
        except OverflowError:
            return math.inf, math.inf, math.inf
        direct = c * max(abs(g) for _, g in self.atoms) > 1
        pairs = list(zip(self.atoms, rises, strict=True))
        if direct:
            excess = math.fsum(w * x for (w, _), x in pairs)
            first = math.fsum(w * g * (1 + x) for (w, g), x in pairs)
        else:  # with the exact mean, which the atoms give up to rounding only
            excess = c * self.mean + math.fsum(w * (x - c * g) for (w, g), x in pairs)
            first = self.mean + math.fsum(w * g * x for (w, g), x in pairs)
        if excess <= -1:
            return math.inf, math.inf, math.inf
        first /= 1 + excess
        second = math.fsum(w * g * g * (1 + x) for (w, g), x in pairs) / (1 + excess)
        return math.log1p(excess), first, second - first**2

    def tilted_powers(self, c: float) -> tuple[float, float, float, float]:
        tilted = [(w * math.exp(c * g), g) for w, g in self.atoms]
        phi = math.fsum(w for w, _ in tilted) + self.empty
        m1, m2, m3, m4 = (math.fsum(w * g**k for w, g in tilted) / phi for k in (1, 2, 3, 4))
        return m1, m2, m3, m4

    def log_moment(self, z: Complexes) -> Complexes:
        direct = float(z[0].real) * max(abs(g) for _, g in self.atoms) > 1
        excess = z * (0.0 if direct else self.mean)
        for w, g in self.atoms:
            excess = excess + w * (np.expm1(z * g) - (0.0 if direct else z * g))
        return log1p(excess)


@dataclass(frozen=True)
class FewValues:
    """G takes each value of ``atoms`` with its weight, else 0; all enclosed by ``arb``. Satisfies ``Law``."""

    n: int
    atoms: Atoms
    mean: Any  # E G = 1 − e^ε
    empty: Any  # P(G = 0), what the weights leave of 1

    @cached_property
    def floats(self) -> FewFloats:
        return FewFloats(self.n, tuple((float(w), float(g)) for w, g in self.atoms), float(self.mean), float(self.empty))

    def moment(self, z: Any) -> Any:
        return sum((w * (z * g).exp() for w, g in self.atoms), flint.acb(self.empty))

    def tilt(self, c: float) -> Tilt:
        atoms = (*self.floats.atoms, (max(0.0, float(self.empty.lower())), 0.0))
        tilted = tuple((w * math.exp(c * g) * (1 - 1e-12), g) for w, g in atoms)
        total = float(self.moment(flint.acb(c)).real.upper()) * (1 + 1e-12)
        return PairLoss(tilted, total)

    def alone(self) -> tuple[Any, Any]:
        """(lower, upper) of E[S_+]/n by what a single report adds: nobody else takes part, or (ΣG)_+ ≤ ΣG_+."""
        single = sum((w * g for w, g in self.atoms if g > 0), flint.arb(0))
        most = sum((w * g.abs_upper() for w, g in self.atoms if not g <= 0), flint.arb(0))
        return single * self.empty ** (self.n - 1), most
