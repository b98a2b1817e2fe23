"""The exact privacy blanket of Laplace reports on a lattice: a bound for this randomiser, tighter than the
clones'.

Balle, Bell, Gascón, Nissim 2019, with the optimal decomposition of Su et al. 2025 (arXiv 2504.07414): with w
= inf_x R_x and γ = Σw, δ(ε) = E[(ΣG_i)_+]/n, where G = 0 with probability 1−γ and else (R_x − e^ε R_x')/w at
a point drawn from w/γ.

Why x = 0, x' = m is the worst pair, also when each slot has a pair of its own: for x ≥ m/2, R_x/w is
nondecreasing in y and has mean 1 under w/γ (times γ), as R_m/w has, and it crosses R_m/w once, from above; so
R_x/w is below R_m/w in the convex order (cut criterion), and mirrored for x ≤ m/2. A difference X − eY is,
for given laws of X and Y, largest in convex order when X and Y are countermonotone, which R_0/w and R_m/w
are. Convex order survives independent sums and mixing with 0, and x ↦ x_+ is convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from dpaudit.accountants.clone import CLONE
from dpaudit.accountants.contour import SKIP, Complexes, Tilt, enclose, estimate, log1p
from dpaudit.accountants.lattice import DIRECT, TERMS, Lattice, lattice
from dpaudit.accountants.search import log
from dpaudit.accountants.three_values import PairLoss
from dpaudit.balls import ball, lower, precision, upper
from dpaudit.noise.extreme import extreme_report_attack

GRID_STEPS = 2 * 2**20  # rewards in [-1, 1] on the grid 2^-20
_VERY_FEW = 8.0  # expected reports from the blanket below which the clone bound is as good
_FEW = 500.0  # expected reports from the blanket below which the power series does not reach far enough


@dataclass(frozen=True)
class Blanket:
    """The summand G at ε. With ``everyone`` the blanket is the whole report (γ = 1): all others hold the
    middle value, where R_middle = w/γ and G shrinks by γ, and δ(ε) is the exact δ of that pair of datasets:
    an attack."""

    lattice: Lattice
    n: int
    epsilon: Fraction
    everyone: bool = False

    @cached_property
    def e(self) -> Any:
        return ball(self.epsilon).exp()

    @cached_property
    def empty(self) -> Any:
        return flint.arb(0) if self.everyone else 1 - self.lattice.mass

    @cached_property
    def _floats(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
        """Weights and values of G in floats, and the exact mean."""
        cells, e, top = self.lattice, float(self.e), math.exp(float(self.lattice.epsilon0))
        weight, u = cells.sample
        end, centre = float(cells.end), float(cells.centre) if cells.inner <= 2048 else 0.0
        weights = np.concatenate([weight, weight, [end, end, centre]])
        values = np.concatenate([u - e, 1 - e * u, [top - e, 1 - e * top, 1 - e]])
        scale = float(cells.mass) if self.everyone else 1.0
        return weights / scale, values * scale, float(1 - self.e)

    def cumulants(self, c: float) -> tuple[float, float, float]:
        weights, values, mean = self._floats
        if c * float(values.max()) > 600:
            return math.inf, math.inf, math.inf
        x = np.expm1(c * values)
        excess = c * mean + float(weights @ (x - c * values))
        first = (mean + float(weights @ (values * x))) / (1 + excess)
        second = float(weights @ (values**2 * (1 + x))) / (1 + excess)
        return math.log1p(excess), first, second - first**2

    def log_moment(self, z: Complexes) -> Complexes:
        weights, values, mean = self._floats
        c, phase = float(z[0].real), np.multiply.outer(z.imag, values)  # one abscissa for all z
        x = np.expm1(c * values)
        tilted = weights * (1 + x)
        real = c * mean + float(weights @ (x - c * values)) - 2 * (np.sin(phase / 2) ** 2 @ tilted)
        return log1p(real + 1j * (z.imag * mean + np.sin(phase) @ tilted - phase @ weights))

    def moment(self, z: Any) -> Any:
        cells, e, top = self.lattice, self.e, ball(self.lattice.epsilon0).exp()
        if self.everyone:
            z = z * cells.mass
        ends = cells.end * ((z * (top - e)).exp() + (z * (1 - e * top)).exp())
        inside = (-z * e).exp() * cells.inner_sum(z) + z.exp() * cells.inner_sum(-z * e)
        total = ends + inside + cells.centre * (z * (1 - e)).exp()
        return total / cells.mass if self.everyone else total + self.empty

    def tilt(self, c: float) -> Tilt:
        return _Tilted(self, c)


class _Tilted:
    """Three reasons why |φ(c+it)| is below φ(c): the ends and the idle value disagree in phase; the inner
    points are spread over many turns (Kuzmin and Landau); or φ itself, evaluated in the middle of a short
    interval, says so."""

    def __init__(self, law: Blanket, c: float) -> None:
        self.law, self.c = law, c
        cells = law.lattice
        self.unit = float(cells.mass) if law.everyone else 1.0  # G is shrunk by this
        self.top, self.e = math.exp(float(cells.epsilon0)), float(law.e)
        self.total = float(law.moment(flint.acb(c)).real.upper()) * (1 + 1e-12)
        weight = float(cells.end) / (self.unit if law.everyone else 1.0)
        values = self.unit * (self.top - self.e), self.unit * (1 - self.e * self.top)
        tilted = [(weight * math.exp(c * g) * (1 - 1e-12), g) for g in values]
        self.pairs = PairLoss((*tilted, (float(law.empty.lower()), 0.0)), self.total)
        self.lipschitz = self._lipschitz()
        self.turning = math.pi / (self.top * self.unit * math.expm1(2 * float(cells.a))) * (1 - 1e-9)
        self.series = math.inf if cells.inner <= DIRECT else 0.99 * TERMS[-1][1] / (self.top * self.e * self.unit) - c
        spread = self.series < self.turning and law.n * self._spread(self.series) >= SKIP
        self.reach = self.turning if spread else self.series
        self.nodes, self.attempts = (600, 1200) if cells.listed else (1500, 1500)

    def loss(self, low: float, high: float) -> float:
        need = SKIP / self.law.n
        found = self.pairs.loss(low, high)
        if found < need and high <= self.turning:
            found = max(found, self._spread(low))
        width = (high - low) / 2 * self.lipschitz / self.total
        if found < need and high < self.series and width < 0.5:
            middle = self.law.moment(flint.acb(self.c, (low + high) / 2))
            found = max(found, 1 - float(middle.abs_upper()) / self.total * (1 + 1e-12) - width)
        return found

    def _spread(self, t: float) -> float:
        """The inner points with u ≥ u0 have phases t·u with increasing steps, at least Λ = t·u0·(e^{2a}−1)
        and at most π, so their plain sum is below 4/Λ (Kuzmin and Landau), and the weighted one below that
        times the largest weight (Abel, once for u^{-1/2} and once for e^{cu}). It is compared with their full
        weight."""
        cells, best = self.law.lattice, 0.0
        a, epsilon0, scale = float(cells.a), float(cells.epsilon0), self.unit if self.law.everyone else 1.0
        c, t = self.c * self.unit, t * self.unit
        kappa = math.tanh(a / 2) / scale
        for j in range(1, 2 + int(epsilon0 / math.log(2))):
            u0 = self.top / 2**j
            count = math.floor((cells.steps - math.log(u0) / a) / 2 - 1e-6) if u0 > 1 else cells.inner
            u0 = max(u0, 1.0)
            full = kappa * math.exp(a - epsilon0 + c * (u0 - self.e)) * math.expm1(a * count) / math.expm1(a)
            largest = kappa * math.exp(c * (self.top - self.e) - epsilon0 / 2) / math.sqrt(u0)
            best = max(best, full - largest * 4 / (t * u0 * math.expm1(2 * a)))
        return best / self.total * (1 - 1e-9)

    def _lipschitz(self) -> float:
        """E|G|e^{cG} ≤ √(φ φ''), and φ''(c) ≤ (φ(c+η) − 2φ(c) + φ(c−η))/η² because cosh x − 1 ≥ x²/2."""
        eta = flint.arb(0.3 / (self.top * self.e * self.unit))
        c = flint.arb(self.c)
        around = sum((self.law.moment(flint.acb(c + x)).real for x in (eta, -eta)), flint.arb(0))
        here = self.law.moment(flint.acb(c)).real
        return float(((around - 2 * here) / eta**2 * here).sqrt().upper())


@dataclass(frozen=True)
class Family:
    """δ(ε) of n shuffled Laplace reports on ``steps`` grid steps; with ``everyone``, of the attack beside the bound."""

    steps: int = GRID_STEPS
    everyone: bool = False

    def counted(self, epsilon0: Fraction, n: int) -> float:
        """The log of the expected number of reports that hide the target: nγ, or all n of them."""
        return log(Fraction(n)) - (0.0 if self.everyone else float(epsilon0) / 2)

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]:
        """Certified (lower, upper) of δ(ε). Where too few reports count, 0 and the clone bound."""
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        bits = 384 + 3 * n.bit_length() + effort.denominator.bit_length()
        counted = self.counted(epsilon0, n)
        if counted > math.log(_FEW) or self.steps <= 2 * DIRECT:
            try:
                return self._enclose(epsilon0, n, epsilon, bits, "exact")
            except (ArithmeticError, OverflowError):
                pass
        return self._coarse(epsilon0, n, epsilon, effort)

    def _coarse(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]:
        """Few reports count, and the tail of φ^n is long: enclose two coarser laws, as far out as it takes."""
        bits = 192 + 2 * n.bit_length() + effort.denominator.bit_length()
        clone = Fraction(1) if self.everyone else CLONE.delta(epsilon0, n, epsilon, effort)[1]
        if self.counted(epsilon0, n) < math.log(_VERY_FEW):
            return Fraction(0), clone
        try:
            low = self._enclose(epsilon0, n, epsilon, bits, "merged")[0]
            return low, min(clone, self._enclose(epsilon0, n, epsilon, bits, "spread")[1])
        except (ArithmeticError, OverflowError):
            return Fraction(0), clone

    def _enclose(self, epsilon0: Fraction, n: int, epsilon: Fraction, bits: int, cells: str) -> tuple[Fraction, Fraction]:
        with precision(bits):
            law = Blanket(lattice(epsilon0, self.steps, bits, cells), n, epsilon, self.everyone)
            low, high = enclose(law)
            return max(Fraction(0), lower(low)), min(Fraction(1), upper(high))

    def estimate(self, epsilon0: float, n: int, epsilon: float) -> float:
        """log δ(ε) in floats, uncertified."""
        if self.counted(Fraction(epsilon0), n) < math.log(_VERY_FEW) and self.steps > 2 * DIRECT:
            return CLONE.estimate(epsilon0, n, epsilon)
        bits = 64 + 2 * n.bit_length()
        with precision(bits):
            cells = lattice(Fraction(epsilon0), self.steps, bits)
            return estimate(Blanket(cells, n, Fraction(epsilon), self.everyone))

    def attack(self, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
        """A proven lower bound on ε for these reports: the extreme report."""
        return extreme_report_attack(self.steps / epsilon0, self.steps, n, delta, grid=1).epsilon
