"""Sums of summands with three values, taken exactly: Σ over the number of reports that are not idle.

Used where few reports count; the contour takes over where the sum would be long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.contour import Complexes, Tilt, enclose, log1p

EXACT_LIMIT = 1e5  # expected number of reports that are not the idle value, up to which the sum is taken term by term


@dataclass(frozen=True)
class ThreeValues:
    """G is ``plus`` or ``minus`` with probability ``weight`` each, else ``idle``; all enclosed by ``arb``."""

    n: int
    weight: Any
    plus: Any
    minus: Any
    idle: Any
    mean: Any  # E G = 1 − e^ε

    @property
    def empty(self) -> Any:
        return 1 - 2 * self.weight if self.idle == 0 else flint.arb(0)

    def _atoms(self) -> tuple[tuple[float, float], ...]:
        w = float(self.weight)
        rest = float(1 - 2 * self.weight)
        return (w, float(self.plus)), (w, float(self.minus)), (max(rest, 0.0), float(self.idle))

    def cumulants(self, c: float) -> tuple[float, float, float]:
        try:
            tilted = [(w, g, math.expm1(c * g)) for w, g in self._atoms()]
        except OverflowError:
            return math.inf, math.inf, math.inf
        excess = math.fsum([c * float(self.mean)] + [w * (x - c * g) for w, g, x in tilted])
        first = math.fsum([float(self.mean)] + [w * g * x for w, g, x in tilted]) / (1 + excess)
        second = math.fsum(w * g * g * (1 + x) for w, g, x in tilted) / (1 + excess)
        return math.log1p(excess), first, second - first**2

    def log_moment(self, z: Complexes) -> Complexes:
        excess = z * float(self.mean)
        for w, g in self._atoms():
            excess = excess + w * (np.expm1(z * g) - z * g)
        return log1p(excess)

    def moment(self, z: Any) -> Any:
        return self.weight * ((z * self.plus).exp() + (z * self.minus).exp()) + (1 - 2 * self.weight) * (z * self.idle).exp()

    def tilt(self, c: float) -> Tilt:
        tilted = tuple((w * math.exp(c * g), g) for w, g in self._atoms())
        return PairLoss(tilted, math.fsum(w for w, _ in tilted))


@dataclass(frozen=True)
class PairLoss:
    """|E e^{itG}|² = 1 − Σ_{i<j} 4 p_i p_j sin²(t(g_i−g_j)/2), so every pair alone bounds the modulus."""

    atoms: tuple[tuple[float, float], ...]  # weights need not be normalised
    total: float  # at least the weight of all atoms, listed here or not
    reach: float = math.inf
    nodes: int = 6000
    attempts: int = 100_000

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


def curve(law: ThreeValues, delta: Fraction, bits: int) -> tuple[Any, Any]:
    """(lower, upper): enclosures of δ(ε) = E[(ΣG)_+]/n for a three-valued law; ``delta`` sets the effort."""
    if law.n * float((2 * law.weight).upper()) > EXACT_LIMIT:
        return enclose(law)
    return exact_sum(law, delta, bits)


def exact_sum(law: ThreeValues, delta: Fraction, bits: int) -> tuple[Any, Any]:
    """Sum over the number m of reports that are not idle, in a window; what is outside is bounded and added on top."""
    n, active = law.n, 2 * law.weight
    first, last = _window(n, float(active), delta)
    odds = active / (1 - active)
    gap = law.plus - law.minus
    # S > 0 iff more than θ = slope·m + offset of the m are "plus"; fixed point, and a wrong integer is
    # covered by slack
    slope, offset = (law.idle - law.minus) / gap, -n * law.idle / gap
    fixed_slope, fixed_offset = (int((x * flint.arb(2) ** bits).mid().floor().unique_fmpz()) for x in (slope, offset))
    positive = _first_positive(law)
    left_out, first = (first if first > positive else 1), max(first, positive)
    slack = gap * (n + 2) * flint.arb(2) ** (1 - bits) + gap * (n * flint.arb(slope.rad()) + flint.arb(offset.rad()))
    if first > last:
        return flint.arb(0), law.plus / 2 * _outside(n, active, odds, left_out, last) / n + slack
    chance = _binomial(n, first, active)
    m, b = first, ((fixed_slope * first + fixed_offset) >> bits) + 1
    mass = _half_binomial(m - 1, b - 1)
    tail = _half_tail(m - 1, b - 1, mass)
    total = flint.arb(0)
    while True:
        total += chance * (gap * m * tail / 2 + (m * law.minus + (n - m) * law.idle) * (tail - mass / 2))
        if m == last:
            break
        if ((fixed_slope * (m + 1) + fixed_offset) >> bits) + 1 > b:
            tail, mass, b = tail - mass / 2, mass * m / (2 * b), b + 1
        else:
            tail, mass = tail + mass * (b - 1) / (2 * (m - b + 1)), mass * m / (2 * (m - b + 1))
        chance = chance * odds * (n - m) / (m + 1)
        m += 1
    lower = total / n - slack
    return lower, total / n + slack + law.plus / 2 * _outside(n, active, odds, left_out, last) / n


def _window(n: int, active: float, delta: Fraction) -> tuple[int, int]:
    """Values of m that carry all but a negligible part (e^-45 of δ) of the expectation."""
    mean, effort = n * active, 45.0 + math.log(delta.denominator) - math.log(delta.numerator)
    half = math.sqrt(2 * mean * (1 - active) * effort) + effort
    return max(1, math.floor(mean - half)), max(1, min(n, math.ceil(mean + half)))


def _first_positive(law: ThreeValues) -> int:
    """The least m for which m times "plus" outweighs the idle rest; below it S_+ is 0."""
    least = law.n * -law.idle / (law.plus - law.idle)
    return max(1, int(least.upper().floor().unique_fmpz()) + 1)


def _outside(n: int, active: Any, odds: Any, first: int, last: int) -> Any:
    """Σ m P(M = m) over m < first and m > last, bounded by geometric series; E[S_+; M = m] ≤ plus·m/2·P(M = m)."""
    total = flint.arb(0)
    if first > 1:
        ratio = (first - 1) / (odds * (n - first + 1))
        total += first * _binomial(n, first, active) * ratio / (1 - ratio) if ratio < 1 else active * n
    if last < n:
        ratio = odds * (n - last) / flint.arb(last)
        total += last * _binomial(n, last, active) * ratio / (1 - ratio) if ratio < 1 else active * n
    return total


def _binomial(n: int, m: int, probability: Any) -> Any:
    choose = (flint.arb(n + 1).lgamma() - flint.arb(m + 1).lgamma() - flint.arb(n - m + 1).lgamma()).exp()
    return choose * probability**m * (1 - probability) ** (n - m)


def _half_binomial(m: int, k: int) -> Any:
    """P(Bin(m, 1/2) = k)."""
    return _binomial(m, k, flint.arb(1) / 2) if 0 <= k <= m else flint.arb(0)


def _half_tail(m: int, k: int, mass: Any) -> Any:
    """P(Bin(m, 1/2) ≥ k) for k above about m/2, by summing until the geometric rest is negligible."""
    total, rest, negligible = flint.arb(0), flint.arb(0), flint.arb(2) ** -flint.ctx.prec
    for j in range(k, m + 1):
        total += mass
        mass = mass * (m - j) / (j + 1)
        ratio = flint.arb(m - j - 1) / (j + 2)
        if j > m // 2 and mass < total * negligible:
            rest = mass / (1 - ratio)
            break
    return total + flint.arb(0, rest.abs_upper())
