"""δ(ε) of a sum of losses on a grid: for few sampled releases, where the contour has no answer for 16 of 21 questions.

One transform, one power, one transform back, under a tilt, with proven error bounds; then every ε costs one short sum.
numerics/grid_sum.py sums shuffled reports by the same transform, one way: there one ε is asked for each law, and all but few of
up to 10^18 reports are 0. Rounding here grows with the number of releases, there with the number of reports that count.

x_i = mass_i e^{c i Δ}/X; z = the circular power of x. δ(ε) = P(some loss is +∞) + X^n e^{−cε} Σ_j z_j g(y_j) at y_j = s_j − ε,
g(y) = e^{−cy}(1 − e^{−y})_+. Sums beyond the end of the window come round; with any θ > c they are at most
e^{K(θ) − θε − (θ−c)·period}/(1 − e^{−(θ−c)·period}), and count once more from where they belong. Where the window begins above
the least sum, and not above ε, sums below it come round too: those k periods below count e^{−ck·period} instead of nothing.

Rounding: masses are exact; x_i is that of a mass off by a part ``drift``/n, so the n-th power is off by that part; transforms and
powers are off by ``error`` in the 2-norm; |g'| ≤ (1+c)e^{−cy} carries the error of y. Scalars are balls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import flint
import numpy as np

from dpaudit.accountants.numerics.elementary import (
    EXP_ERROR,
    EXPM1_ERROR,
    SLACK,
    TABLE_ERROR,
    Complexes,
    Floats,
    U,
    exp,
    exp_table,
    expm1,
)
from dpaudit.accountants.numerics.fourier import inverse, transform, transform_error
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw
from dpaudit.claims.balls import Ball, ball, precision

_BITS = 96
_BLOCK = 512  # terms that are summed in any order; the sums of blocks are added without rounding
_FARTHEST, _LEFT_OUT = 60.0, 1e-26  # nats, and what a weight beyond is at most: e^−60 < 10^-26
_SMALL = 0.34  # y up to which 1 − e^{−y} is no difference
_JOINED = 400  # cells of a law for bounds on its moments
_JOINT_ERROR = 2.0**-32  # relative, of sums of up to 2^20 numbers


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
        totals, error, self.drift = [], 0.0, 0.0
        for law, count in laws:
            if not law.masses.any():
                raise ArithmeticError("the grid is too coarse")
            reach = c * unit * len(law.masses)
            x = law.masses * exp(np.asarray(c * unit * np.arange(len(law.masses)), dtype=np.float64))
            total = math.fsum(x)
            x = x / total
            totals.append(total)
            padded = np.zeros(length, dtype=np.complex128)
            padded[: len(x)] = x
            part = transform(padded)
            # each factor has modulus at most 1, but for rounding: the errors of a product add up
            error += count * (_norm(x) * transform_error(length) * 1.01 + 4 * U)
            powered = _power(part, count)
            spectrum = powered if spectrum is None else spectrum * powered
            # the tilt, its product with the mass, the division; two roundings of the exponent
            self.drift += count * (EXP_ERROR + 4 * U + 4 * U * reach) * SLACK
        if spectrum is None:
            raise ArithmeticError("nothing to sum")
        if self.drift > 0.1 or error > 0.01:
            raise ArithmeticError("too many releases for doubles")
        self.sums: Floats = np.roll(inverse(spectrum).real, -(skipped % length))
        self.size = float(np.abs(self.sums).sum())
        self.error = (error + transform_error(length) * (_norm(self.sums) + error)) * SLACK * (1 + 1e-6)
        with precision(_BITS):
            self.log_scale: Ball = ball(Fraction(c)) * ball(least * Fraction(unit) + offset)
            for total, (_, count) in zip(totals, laws, strict=True):
                self.log_scale += count * flint.arb(total).log()
            self.infinite = self._infinite()
            self.orders, self.moments = self._moments()

    def _infinite(self) -> Ball:
        """P(some loss is +∞), the masses being those of ``laws``: Π(F+I)^n − ΠF^n = ΠF^n(e^{Σ n ln(1 + I/F)} − 1)."""
        finite, gained = flint.arb(0), flint.arb(0)
        for law, count in self.laws:
            mass = flint.arb(math.fsum(law.masses)) * (1 + flint.arb(0, 2.0**-52))
            finite += count * mass.log()
            gained += count * (flint.arb(law.infinite) / mass).log1p()
        return finite.exp() * gained.expm1()

    def _moments(self) -> tuple[Floats, Floats]:
        """Orders θ, and upper bounds on K(θ) = Σ n ln E e^{θL}: cells are joined at their right ends."""
        orders = self.c * np.geomspace(0.25, 16.0, 40)
        size = np.zeros_like(orders)
        for law, count in self.laws:
            used = np.flatnonzero(law.masses)[:: max(1, len(law.masses) // _JOINED)]
            edges = np.append(used[1:], len(law.masses))
            joined = np.add.reduceat(law.masses, used)
            places = self.unit * (law.first + edges) + law.offset
            exponents = np.multiply.outer(orders, places)
            top = exponents.max(axis=1)
            sums = (joined * exp(exponents - top[:, None])).sum(axis=1) + 1e-290
            logs = np.array([float(flint.arb(float(each)).log().upper()) for each in sums])
            off = 8 * U * orders * (np.abs(places).max() + abs(law.offset) + self.unit * abs(law.first))
            size += count * (top + logs + off + _JOINT_ERROR)
        return orders, size + 64 * U * np.abs(size)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """(below, above) δ(ε) of this law."""
        if self.cut and epsilon < self.base:
            raise ArithmeticError("the window begins above ε")
        value, rounding = self._finite(epsilon)
        with precision(_BITS):
            at, part = ball(Fraction(epsilon)), flint.arb(2 * self.drift)  # (1+x)^n is within 2nx of 1 for nx ≤ 1/10
            scale = (self.log_scale - ball(Fraction(self.c)) * at).exp()
            around, beyond = self._around(epsilon, at)
            most, least = flint.arb(value) + flint.arb(rounding), flint.arb(value) - flint.arb(rounding)
            above = scale * most * (1 + part) + self.infinite + beyond
            below = scale * least * (1 - part) - around
            below = (below if below > 0 else flint.arb(0)) + self.infinite
            return _outward(below.lower(), -math.inf), _outward(above.upper(), math.inf)

    def _finite(self, epsilon: float) -> tuple[float, float]:
        """Σ_j z_j g(y_j) and a bound on its error."""
        first = max(0, min(self.length, math.floor((epsilon - self.base) / self.unit) - 1))
        last = min(self.length, first + math.ceil(_FARTHEST / (self.c * self.unit)) + 2)
        sums, start = self.sums[first:last], self.base + first * self.unit - epsilon
        skipped = max(0, min(len(sums), math.ceil(-start / self.unit)))  # y < 0 there: no weight
        y_error = 4 * U * (abs(self.base) + self.length * self.unit + abs(epsilon))
        tilts = exp_table(-self.c * start, -self.c * self.unit, len(sums))
        weights = _risen(start, self.unit, len(sums)) * tilts
        weights[:skipped] = 0.0
        terms = np.zeros(-(-max(1, len(sums)) // _BLOCK) * _BLOCK)
        terms[: len(sums)] = sums * weights
        value = math.fsum(terms.reshape(-1, _BLOCK).sum(axis=1))
        # the tilt and its exponent, 1 − e^{−y}, two products, the sum of a block
        off = TABLE_ERROR + 8 * (abs(self.c * start) + _FARTHEST + 8) * U + 2 * EXPM1_ERROR + 4 * U + _BLOCK * U
        sizes = np.abs(sums)
        rounding = self.error * _norm(weights) + off * float(np.abs(terms).sum())
        rounding += y_error * (1 + self.c) * float((sizes * tilts).sum()) + _LEFT_OUT * self.size
        return value, rounding * (1 + 1e-6)

    def _around(self, epsilon: float, at: Ball) -> tuple[Ball, Ball]:
        """What comes round at most, and what that adds where it belongs; floats choose the orders, balls bound."""
        period = self.length * Fraction(self.unit)
        end = ball(Fraction(self.base) + period)
        above = np.flatnonzero(self.orders > self.c * 1.01)
        falls = (self.moments - self.orders * epsilon - (self.orders - self.c) * float(period))[above]
        place = int(above[int(falls.argmin())])
        c, theta = ball(Fraction(self.c)), ball(Fraction(float(self.orders[place])))
        once = (-(theta - c) * ball(period)).exp()
        around = (flint.arb(float(self.moments[place])) - theta * at).exp() * once / (1 - once)
        if self.cut:
            lower = (-c * ball(period)).exp()
            around += lower / (1 - lower)
        last = int((self.moments - self.orders * float(end)).argmin())
        beyond = (flint.arb(float(self.moments[last])) - ball(Fraction(float(self.orders[last]))) * end).exp()
        return around, beyond


def _risen(start: float, step: float, count: int) -> Floats:
    """1 − e^{−y} at y = start + k·step, k < count, where y ≥ 0; within 2 ``EXPM1_ERROR`` relatively besides the error of y."""
    values = 1 - exp_table(-start, -step, count)
    small = max(0, min(count, math.ceil((_SMALL - start) / step)))
    values[:small] = -expm1(-(start + np.arange(small, dtype=np.float64) * step))
    return values


def _outward(value: Ball, toward: float) -> float:
    if not value.is_finite():
        raise ArithmeticError("a sum on a grid is not determined")
    return math.nextafter(float(value), toward)


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
