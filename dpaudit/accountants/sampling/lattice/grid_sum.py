"""δ(ε) of a sum of losses on a grid: one transform, one power, one transform back, under a tilt, with proven error bounds.

x_i = mass_i e^{c i Δ}/X; z = the circular power of x. δ(ε) = P(some loss is +∞) + X^n e^{−cε} Σ_j z_j e^{−c y_j}(1 −
e^{−y_j})_+ at y_j = s_j − ε. Sums beyond the end of the window come round; with any θ > c they are at most
e^{K(θ) − θε − (θ−c)·period}, and count once more from where they belong. Where the window begins above the least sum, and not
above ε, sums below it come round too: each counts e^{−c·period} at most, where it should count nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpaudit.accountants.sampling.contours.elementary import EXP_ERROR, SLACK, Complexes, Floats, U, exp
from dpaudit.accountants.sampling.lattice.fourier import inverse, transform, transform_error
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw


class GridSum:
    """The law of the sum of n_g losses of each law, all on multiples of ``unit``, near the order c."""

    def __init__(self, laws: Sequence[tuple[GridLaw, int]], unit: float, c: float, length: int, begin: float = -math.inf) -> None:
        """``begin``: where the window may begin, if the least sum is below."""
        self.unit, self.c, self.length = unit, c, length
        self.laws = laws
        least = sum(law.first * count for law, count in laws)
        offset = sum((Fraction(law.offset) * count for law, count in laws), Fraction(0))
        skipped = max(0, math.floor((begin - float(least * Fraction(unit) + offset)) / unit)) if begin > -math.inf else 0
        self.cut = skipped > 0
        self.base = float((least + skipped) * Fraction(unit) + offset)  # the least sum in the window
        spectrum: Complexes | None = None
        self.log_total, error, steps = 0.0, 0.0, 0
        for law, count in laws:
            if not law.masses.any():
                raise ArithmeticError("the grid is too coarse")
            x = law.masses * exp(np.minimum(c * unit * np.arange(len(law.masses)), 690.0))
            total = math.fsum(x)
            x = x / total
            self.log_total += count * (math.log(total) + c * (unit * law.first + law.offset))
            padded = np.zeros(length, dtype=np.complex128)
            padded[: len(x)] = x
            part = transform(padded)
            one = _norm(x) * transform_error(length)
            # each factor has modulus at most 1, but for rounding: the errors of a product add up
            error += count * one * 1.01 + count * 4 * U
            powered = _power(part, count)
            spectrum = powered if spectrum is None else spectrum * powered
            steps += count
        if spectrum is None:
            raise ArithmeticError("nothing to sum")
        self.sums: Floats = np.roll(inverse(spectrum).real, -(skipped % length))
        norm = _norm(self.sums)
        self.error = (error + transform_error(length) * (norm + error)) * SLACK * (1 + 1e-6)
        # weights: e^{ciΔ} and the division, relatively; the logarithm of X^n absolutely
        self.drift = steps * (EXP_ERROR + 8 * U + 2 * U * c * unit * max(len(law.masses) for law, _ in laws)) + 1e-13 * (
            1 + abs(self.log_total)
        )
        self.infinite = self._infinite()

    def _infinite(self) -> float:
        """P(some loss is +∞), the masses being those of ``laws``: ΠM^n − ΠF^n."""
        finite, whole = 0.0, 0.0
        for law, count in self.laws:
            mass = math.fsum(law.masses)
            finite += count * math.log(mass)
            whole += count * math.log(mass + law.infinite)
        return math.exp(whole) * -math.expm1(finite - whole)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """(below, above) δ(ε) of this law."""
        first = max(0, min(self.length, math.floor((epsilon - self.base) / self.unit) - 1))
        y = self.base + np.arange(first, self.length) * self.unit - epsilon
        y = np.maximum(y, 0.0)
        weights = exp(np.maximum(-self.c * y, -690.0)) * -np.expm1(-y)
        value = float((self.sums[first:] * weights).sum())
        if self.cut and epsilon < self.base:
            raise ArithmeticError("the window begins above ε")
        scale = math.exp(min(600.0, self.log_total - self.c * epsilon))
        rounding = self.error * _norm(weights) + 2e-12 * abs(value)  # sums of up to 2^20 terms, y within 2U s
        around = self._around(epsilon)
        above = scale * (value + rounding) * math.exp(self.drift) + self.infinite * (1 + 1e-12) + around[1]
        below = scale * (value - rounding) * math.exp(-self.drift) + self.infinite * (1 - 1e-12) - around[0]
        return below, above

    def _around(self, epsilon: float) -> tuple[float, float]:
        """What comes round at most, and what that adds where it belongs."""
        period = self.length * self.unit
        end = self.base + period
        orders = self.c * np.geomspace(0.25, 16.0, 40)
        size = np.zeros_like(orders)
        for law, count in self.laws:
            used = np.flatnonzero(law.masses)[:: max(1, len(law.masses) // 2000)]  # cells are joined at their right end, upward
            edges = np.append(used[1:], len(law.masses))
            joined = np.add.reduceat(law.masses, used)
            exponents = np.multiply.outer(orders, self.unit * (law.first + edges) + law.offset)
            top = exponents.max(axis=1)
            size += count * (top + np.log((joined * np.exp(exponents - top[:, None])).sum(axis=1)))
        above = orders > self.c * 1.01
        round_about = float((size - orders * epsilon - (orders - self.c) * period)[above].min())
        beyond = float((size - orders * end).min())
        ratio = 1.1  # the periods after the first, and the rounding of these sums
        below = math.exp(-self.c * period) if self.cut else 0.0
        return (math.exp(min(600.0, round_about)) + below) * ratio, math.exp(min(600.0, beyond)) * ratio


def _norm(values: Floats) -> float:
    """‖values‖₂; a library's own would wake all threads for each."""
    return math.sqrt(float((values * values).sum()))


def _power(base: Complexes, count: int) -> Complexes:
    total, square = np.ones_like(base), base
    while count:
        if count & 1:
            total = total * square
        count >>= 1
        if count:
            square = square * square
    return total
