"""Sums of summands with three values, taken exactly: Σ over the number of reports that are not idle.

Used where few reports count; the contour takes over where the sum would be long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint

from dpaudit.accountants.numerics.contour import Tilt, saddle
from dpaudit.accountants.shuffle.three_value_floats import ThreeFloats

EXACT_LIMIT = 2e4  # expected number of reports that are not the idle value, up to which the sum is taken term by term
_EFFORT = 45.0  # terms below e^-45 of the whole are bounded, not added


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

    @cached_property
    def floats(self) -> ThreeFloats:
        weight, plus, minus, idle, mean = (float(x) for x in (self.weight, self.plus, self.minus, self.idle, self.mean))
        return ThreeFloats(self.n, weight, plus, minus, idle, mean, float(1 - 2 * self.weight))

    def moment(self, z: Any) -> Any:
        active = self.weight * ((z * self.plus).exp() + (z * self.minus).exp())
        return active + (1 - 2 * self.weight) * ((z * self.idle).exp() if self.idle != 0 else 1)

    def tilt(self, c: float) -> Tilt:
        tilted = tuple((w * math.exp(c * g), g) for w, g in self.floats.atoms)
        return PairLoss(tilted, math.fsum(w for w, _ in tilted))


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


def is_long(law: ThreeValues) -> bool:
    """Would the sum have so many terms that the contour is the better way?"""
    return law.n * float((2 * law.weight).upper()) > EXACT_LIMIT


def exact_sum(law: ThreeValues, bits: int, effort: float = _EFFORT) -> tuple[Any, Any]:
    """Sum over the number m of reports that are not idle, in a window; what is outside is bounded and added on top."""
    n, active = law.n, 2 * law.weight
    c = saddle(law.floats).c
    peak = law.moment(flint.acb(c)).real
    always = bool(active == 1)
    tilted = 1 - (1 - active) * (c * law.idle).exp() / peak  # the chance of not being idle under the weight e^{cG}
    peak = peak**n
    first, last = (n, n) if always else _window(n, float(tilted), effort)
    odds = active / (1 - active) if not always else flint.arb(0)
    gap = law.plus - law.minus
    # S > 0 iff more than θ = slope·m + offset of the m are "plus"; fixed point, and a wrong integer, which needs |S| ≤ slack, is
    # covered: P(|S| ≤ slack) ≤ φ(c)^n e^{c·slack}
    slope, offset = (law.idle - law.minus) / gap, -n * law.idle / gap
    fixed_slope, fixed_offset = (int((x * flint.arb(2) ** bits).mid().floor().unique_fmpz()) for x in (slope, offset))
    positive = _first_positive(law)
    left_out, first = (first if first > positive else 1), max(first, positive)
    slack = gap * (n + 2) * flint.arb(2) ** (1 - bits) + gap * (n * flint.arb(slope.rad()) + flint.arb(offset.rad()))
    slack = slack * peak * (c * slack).exp()
    # E[S_+; M = m] ≤ E[e^{cS}; M = m]/(ec) = φ(c)^n/(ec) · P(M = m) under the tilted law
    outside = flint.arb(0) if always else peak / (flint.arb(1).exp() * c) * _outside(n, tilted, left_out, last) / n
    if first > last:
        return flint.arb(0), outside + slack
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
    return total / n - slack, total / n + slack + outside


def _window(n: int, active: float, effort: float) -> tuple[int, int]:
    """Values of m that carry all but about e^-effort of a binomial law."""
    mean = n * active
    half = math.sqrt(2 * mean * (1 - active) * effort) + effort
    return max(1, math.floor(mean - half)), max(1, min(n, math.ceil(mean + half)))


def _first_positive(law: ThreeValues) -> int:
    """The least m for which m times "plus" outweighs the idle rest; below it S_+ is 0."""
    least = law.n * -law.idle / (law.plus - law.idle)
    return max(1, int(least.upper().floor().unique_fmpz()) + 1)


def _outside(n: int, chance: Any, first: int, last: int) -> Any:
    """An upper bound on P(1 ≤ M < first) + P(M > last) for binomial M, by geometric series."""
    total, odds = flint.arb(0), chance / (1 - chance)
    if first > 1:
        ratio = first / (odds * (n - first + 1))
        total += _binomial(n, first, chance) * ratio / (1 - ratio) if ratio < 1 else 1
    if last < n:
        ratio = odds * (n - last) / flint.arb(last + 1)
        total += _binomial(n, last, chance) * ratio / (1 - ratio) if ratio < 1 else 1
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
