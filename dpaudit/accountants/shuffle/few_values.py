"""Laws with few values: what one report of a finite randomiser adds to the sum whose positive part is δ(ε).

A randomiser writes its law once (``Terms``), over numbers that know exp and expm1: balls for certificates, floats for searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import flint
import numpy as np
from scipy.special import gammaln

from dpaudit.accountants.numerics.contour import Complexes, Tilt, log1p
from dpaudit.accountants.numerics.elementary import Floats

Atoms = tuple[tuple[Any, Any], ...]  # (weight, value)
Number = Callable[[Any], Any]  # a ball, or an ``Approximation``

_REACH = 7.5  # deviations of a count that an estimate sums over
_COMPARED = 8  # atoms whose phases are compared, the heaviest: all pairs of many would take longer than the nodes they spare


class Approximation(float):
    """A float with the functions of balls that laws are written in."""

    def exp(self) -> float:
        return math.exp(self)

    def expm1(self) -> float:
        return math.expm1(self)


class Terms(NamedTuple):
    """G takes each value of ``atoms`` with its weight, else 0."""

    atoms: Atoms
    mean: Any  # E G = 1 − e^ε
    empty: Any  # P(G = 0), what the weights leave of 1
    paired: bool = False  # the first two weights are one number, and at most one other value is left: 0, or the third atom


@dataclass(frozen=True)
class FewFloats:
    """G in floats: for searches, never for bounds."""

    n: int
    atoms: tuple[tuple[float, float], ...]
    mean: float
    empty: float
    paired: bool = False

    @cached_property
    def top(self) -> float:
        return max(value for _, value in self.atoms)

    @cached_property
    def span(self) -> float:
        return max(abs(value) for _, value in self.atoms)

    @property
    def active(self) -> float:
        """The expected number of reports that are not empty; 1 − ``empty`` would be rounded."""
        return self.n * math.fsum(weight for weight, _ in self.atoms)

    def cumulants(self, c: float) -> tuple[float, float, float]:
        try:
            rises = [math.expm1(c * g) for _, g in self.atoms]
        except OverflowError:
            return math.inf, math.inf, math.inf
        direct = c * self.span > 1
        excess, first, second = (0.0, 0.0, 0.0) if direct else (c * self.mean, self.mean, 0.0)
        for (w, g), x in zip(self.atoms, rises, strict=True):
            if direct:
                excess += w * x
                first += w * g * (1 + x)
            else:  # with the exact mean, which the atoms give up to rounding only
                excess += w * (x - c * g)
                first += w * g * x
            second += w * g * g * (1 + x)
        if excess <= -1:
            return math.inf, math.inf, math.inf
        first /= 1 + excess
        return math.log1p(excess), first, second / (1 + excess) - first**2

    def tilted_powers(self, c: float) -> tuple[float, float, float, float]:
        tilted = [(w * math.exp(c * g), g) for w, g in self.atoms]
        phi = sum(w for w, _ in tilted) + self.empty
        m1, m2, m3, m4 = (sum(w * g**k for w, g in tilted) / phi for k in (1, 2, 3, 4))
        return m1, m2, m3, m4

    def log_moment(self, z: Complexes) -> Complexes:
        direct = float(z[0].real) * self.span > 1
        excess = z * (0.0 if direct else self.mean)
        for w, g in self.atoms:
            excess = excess + w * (np.expm1(z * g) - (0.0 if direct else z * g))
        return log1p(excess)

    def counted(self, first: float, second: float) -> float:
        """log of E[S_+]/n of a pair, over both counts in a window around these; a fifth of the time of the certified sum."""
        (weight, plus), (_, minus), *rest = self.atoms
        idle, log_left = rest[0][1] if rest else 0.0, math.log1p(-2 * weight) if weight < 0.5 else -math.inf
        a, b = (self._window(mean) for mean in (first, second))
        total = np.add.outer(a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = total * math.log(weight) + np.where(total < self.n, (self.n - total) * log_left, 0.0)
            orders = np.cumsum(np.log(np.maximum(self.n - np.arange(int(total.max())), 0.0)))
        chance += np.append(0.0, orders)[total.astype(np.int64)] - np.add.outer(gammaln(a + 1), gammaln(b + 1))
        sums = self.n * idle + np.add.outer(a * (plus - idle), b * (minus - idle))
        seen = (sums > 0) & np.isfinite(chance)
        if not seen.any():
            return -math.inf
        peak = float(chance[seen].max())
        return peak + math.log(float(np.exp(chance[seen] - peak) @ sums[seen])) - math.log(self.n)

    def _window(self, mean: float) -> Floats:
        half = _REACH * (math.sqrt(mean) + 1)
        return np.arange(max(0, math.floor(mean - half)), min(self.n, math.ceil(mean + half)) + 1, dtype=np.float64)


@dataclass(frozen=True)
class FewValues:
    """The same, all enclosed by ``arb``; the fields are those of ``Terms``. Satisfies ``Law``."""

    n: int
    atoms: Atoms
    mean: Any
    empty: Any
    paired: bool = False

    @cached_property
    def floats(self) -> FewFloats:
        atoms = tuple((float(weight), float(value)) for weight, value in self.atoms)
        return FewFloats(self.n, atoms, float(self.mean), float(self.empty), self.paired)

    def moment(self, z: Any) -> Any:
        return sum((w * (z * g).exp() for w, g in self.atoms), flint.acb(self.empty))

    def tilt(self, c: float) -> Tilt:
        atoms = (*self.floats.atoms, (max(0.0, float(self.empty.lower())), 0.0))
        tilted = sorted(((w * math.exp(c * g) * (1 - 1e-12), g) for w, g in atoms if w > 0), reverse=True)
        total = float(self.moment(flint.acb(c)).real.upper()) * (1 + 1e-12)
        return PairLoss(tuple(tilted[:_COMPARED]), total)

    def alone(self) -> tuple[Any, Any]:
        """(lower, upper) of E[S_+]/n by what a single report adds: nobody else takes part, or (ΣG)_+ ≤ ΣG_+."""
        single = sum((w * g for w, g in self.atoms if g > 0), flint.arb(0))
        most = sum((w * g.abs_upper() for w, g in self.atoms if not g <= 0), flint.arb(0))
        return single * self.empty ** (self.n - 1), most


@dataclass(frozen=True)
class PairLoss:
    """|E e^{itG}|² = 1 − Σ_{i<j} 4 p_i p_j sin²(t(g_i−g_j)/2), so every pair alone bounds the modulus."""

    atoms: tuple[tuple[float, float], ...]  # weights need not be normalised
    total: float  # at least the weight of all atoms, listed here or not
    reach: float = math.inf
    nodes: int = 500
    attempts: int = 800

    def loss(self, low: float, high: float) -> float:
        found = 0.0
        for i, (v, g) in enumerate(self.atoms):
            for w, f in self.atoms[:i]:
                found += 2 * v * w / self.total**2 * _least_sine(abs(g - f) * low / 2, abs(g - f) * high / 2) ** 2
        return found * (1 - 1e-9)


def _least_sine(low: float, high: float) -> float:
    """A lower bound on |sin| over [low, high], with a margin far above the rounding of the phases."""
    margin = 1e-9 + 1e-14 * high
    first, last = (low - margin) / math.pi, (high + margin) / math.pi
    if math.floor(first) != math.floor(last):
        return 0.0
    return max(0.0, min(abs(math.sin(math.pi * first)), abs(math.sin(math.pi * last))) - 1e-12)
