"""ε(δ) of k equal Laplace releases from a finite sum: 100 in .35 ms to 13 digits, where the contour has 6 in 23 ms.

Discrete Laplace noise at cost ε₁ with a query that moves by m steps: a = ε₁/m, r = e^-a, T = tanh(a/2). One loss is ε₁ − 2ao with
0 ≤ o ≤ m, and o has the generating function, in ρ with weights r^o,  φ = ((1 + w) + ρ^m (1 − w))/2,  w = T(1+ρ)/(1−ρ).
1. φ^k = 2^-k Σ_j C(k,j) ρ^{mj} (1−w)^j (1+w)^{k−j}: powers of w with whole coefficients. The powers of (1+ρ)/(1−ρ), summed
   up to n, are Delannoy numbers E_p(n) = [t^p] (1+t)^n/(1−t)^{n+1}, with (p+1)E_{p+1} = (2n+1)E_p + pE_{p−1} and
   Σ_p T^p E_p(n) = (1+r)/(2r^{n+1}).
2. For a slack x = kε₁ − ε between 2aM and 2a(M+1), the losses above ε are those with Σo ≤ M, and summing by parts,
   δ = r^{M+1}/(1+r) · (A(1−τ) + B(1+τ)),  τ = e^{a(2M+1)−x},
   A = 2^{1−k} Σ_{j,p} C(k,j) Z_{jp} e_p,  B the same with e_{p+1},  e_p = T^p E_p(M − mj),  Z_j = (1−w)^{j−1} (1+w)^{k−j−1}.
   So δ is linear in e^ε there: one evaluation gives the root.
3. Doubles suffice. e_p comes from a recurrence with positive terms: it is off by less than 6(p+1)U relatively (U = 2^-53), the
   sums by (7P + J + 20)U of the sum of their absolute values for P powers and J rows. Powers from P on add less than
   2^{k−1} Σ_j C(k,j) Σ_{p≥P} e_p, and Σ_{p≥P} T^p E_p(M) ≤ (T/s)^P/(1 − T/s) · (1+s)^M/(1−s)^{M+1} for T < s < 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from dpaudit.accountants.losses.laws.privacy_loss import LaplaceLoss
from dpaudit.accountants.numerics.roots import log
from dpaudit.claims.balls import ball, lower, precision, upper

MOST = 400  # releases: powers of 2 and binomials stay far inside the range of doubles
_MOST_TERMS = 60_000
_BITS = 128
_U = 2.0**-53
_WIDEST = 1e-10  # relative width beyond which another method is asked
_TURNS = 60
_CLOSE = 1e-5  # relative
_COARSE = 1e-3  # a from which on the powers of T themselves count

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """A and B with bounds on their errors."""

    plain: float
    shifted: float
    plain_error: float
    shifted_error: float


@lru_cache(maxsize=64)
def _coefficients(count: int, rows: int, columns: int) -> Floats:
    """2^{1−k} C(k,j) Z_{jp} for j < rows, p < columns, each rounded once; the row of j = 0 is (1+w)^{k−1}/(1−w)."""
    table = np.zeros((rows, columns))
    row = flint.fmpz_poly([1, 1]) ** (count - 1)
    total = 0
    for p in range(columns):
        total += int(row[p])
        table[0, p] = math.ldexp(float(total), 1 - count)
    for j in range(1, rows):
        row = flint.fmpz_poly([1, -1]) ** (j - 1) * flint.fmpz_poly([1, 1]) ** (count - j - 1) * math.comb(count, j)
        values = [math.ldexp(float(int(value)), 1 - count) for value in row.coeffs()[:columns]]
        table[j, : len(values)] = values
    return table


@dataclass(frozen=True)
class EqualLaplace:
    """``count`` losses of one law; at most ``MOST``, at least 2."""

    law: LaplaceLoss
    count: int

    @cached_property
    def step(self) -> float:
        """a"""
        return float(self.law.epsilon / self.law.steps)

    @cached_property
    def cost(self) -> float:
        """ε₁"""
        return float(self.law.epsilon)

    def estimate(self, target: float) -> int:
        """The cell M where ln δ is about ``target``, in floats: a start, never a bound."""
        a, one, most = self.step, self.cost, self.count * self.law.steps // 2
        mean = math.tanh(one / 2) * one * 0.9
        deviation = math.sqrt(self.count) * one
        all_largest = math.exp(min(0.0, target + self.count * math.log(2)))  # δ ≈ 2^-k x where x is small
        x = max(self.count * (one - mean) - deviation * math.sqrt(-2 * target), min(all_largest, self.count * one / 2))
        low, high = 0.0, 2 * a * most
        for _ in range(_TURNS):
            value, slope = self._float_delta(x)
            low, high = (x, high) if value < target else (low, x)
            move = (target - value) / slope if slope > 0 else math.inf
            near = x + move
            if not low < near < high:
                near = (low + high) / 2 if low else high / 4
            step, x = abs(near - x), near
            if step <= max(a / 4, _CLOSE * x):  # what is left is about the square of the step
                break
        return min(max(0, math.floor(x / (2 * a))), most)

    def _float_delta(self, x: float) -> tuple[float, float]:
        """ln δ at the slack x and its slope, with e_p = (x/2)^p/p! as for continuous noise."""
        half = x / 2 - self.cost * np.arange(math.floor(x / (2 * self.cost)) + 1)
        columns = self._columns(x)
        table = self._table(len(half), columns)
        powers = np.ones((len(half), columns + 1))
        np.cumprod(half[:, None] / np.arange(1, columns + 1), axis=1, out=powers[:, 1:])
        plain, shifted = float(np.vdot(table, powers[:, :-1])), float(np.vdot(table, powers[:, 1:]))
        if not shifted > 0:
            return -math.inf, 0.0
        return math.log(shifted) - x / 2, (plain - shifted) / (2 * shifted)

    def _table(self, rows: int, columns: int) -> Floats:
        return _coefficients(self.count, min(_rounded(rows, 8), self.count), columns)[:rows]

    def _columns(self, x: float) -> int:
        """So many powers that the others add less than 10^-17 or so of δ."""
        columns, need = 8, 45.0 + 1.4 * self.count
        while columns * math.log(2 * columns / (math.e * x)) < need:
            columns = columns * 5 // 4
        if self.step > _COARSE:
            columns = max(columns, math.ceil(1.3 * need / -math.log(math.tanh(self.step / 2))))
        return _rounded(columns, 8)

    def sums(self, cell: int) -> Sums:
        """A and B of the cell M. Raises ``ArithmeticError`` where that costs too much."""
        steps, rows = self.law.steps, cell // self.law.steps + 1
        columns = self._columns((2 * cell + 1) * self.step)
        if rows * columns > _MOST_TERMS:
            raise ArithmeticError("too many terms")
        table = self._table(rows, columns).T
        with precision(_BITS):
            small = float((ball(self.law.epsilon / steps) / 2).tanh())
        grown = np.array([float(2 * (cell - steps * j) + 1) for j in range(rows)]) * small
        powers = np.ones((columns + 1, rows))
        powers[1] = grown
        square = small * small
        for p in range(1, columns):
            powers[p + 1] = (grown * powers[p] + p * square * powers[p - 1]) / (p + 1)
        first, second = table * powers[:-1], table * powers[1:]
        share, rest = (7 * columns + rows + 30) * _U * 1.01, self._beyond(cell, columns, rows, small)
        return Sums(
            float(first.sum(axis=0).sum()),
            float(second.sum(axis=0).sum()),
            share * float(np.abs(first).sum()) + rest,
            share * float(np.abs(second).sum()) + rest,
        )

    def _beyond(self, cell: int, columns: int, rows: int, small: float) -> float:
        """What powers from ``columns`` on may add, with e^{1/2} for the rounding of the exponent."""
        s = min(0.75 + small / 4, max(small * 2, columns / (2 * cell + 1)))
        ways = sum(math.comb(self.count, j) for j in range(rows))
        exponent = columns * math.log(small / s) + cell * math.log1p(s) - (cell + 1) * math.log1p(-s)
        return math.exp(exponent + math.log(ways) + 0.5) / (1 - small / s) + 1e-290  # and where doubles underflow

    def delta(self, cell: int, sums: Sums, epsilon: Fraction) -> Any:
        """A ball around δ(ε) if ε lies in the cell, and around a lower bound of it if not."""
        a = ball(self.law.epsilon / self.law.steps)
        turn = (a * (2 * cell + 1) - ball(self.law.epsilon * self.count - epsilon)).exp()
        plain, shifted = flint.arb(sums.plain, sums.plain_error), flint.arb(sums.shifted, sums.shifted_error)
        return (-a * (cell + 1)).exp() / (1 + (-a).exp()) * (plain * (1 - turn) + shifted * (1 + turn))

    def root(self, cell: int, sums: Sums, delta: Fraction) -> Any:
        """A ball around the ε at which the linear piece of the cell passes δ."""
        a = ball(self.law.epsilon / self.law.steps)
        plain, shifted = flint.arb(sums.plain, sums.plain_error), flint.arb(sums.shifted, sums.shifted_error)
        turn = (plain + shifted - ball(delta) * (a * (cell + 1)).exp() * (1 + (-a).exp())) / (plain - shifted)
        return ball(self.law.epsilon * self.count) - a * (2 * cell + 1) + turn.log()

    def cell_of(self, epsilon: Fraction) -> int:
        """M with 2aM ≤ x < 2a(M+1); 0 from the pure sum on."""
        return max(0, math.floor((self.law.epsilon * self.count - epsilon) * self.law.steps / (2 * self.law.epsilon)))


def _rounded(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def equal_laplace_epsilon(law: LaplaceLoss, count: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper): ε is proven to meet δ at ``upper``, and no less than ``lower`` does. Raises ``ArithmeticError``.

    δ is convex in e^ε, and each cell gives a tangent: from any cell on, Newton's method ends in the one that holds the root.
    """
    equal = _equal(law, count)
    cell, most, pure = equal.estimate(log(delta)), equal.cell_of(Fraction(0)), law.epsilon * count
    with precision(_BITS):
        for _ in range(_TURNS):
            sums = equal.sums(cell)
            epsilon = equal.root(cell, sums, delta)
            if not epsilon.is_finite():  # the losses of this cell are rarer than δ
                cell = min(2 * cell + 1, most)
                continue
            low, high = max(lower(epsilon), Fraction(0)), upper(epsilon)
            if high <= 0:
                break
            if high - low > _WIDEST * high:
                raise ArithmeticError("a sum cancels")
            following = equal.cell_of(high)
            if following == cell:
                return min(low, pure), min(high, pure)
            cell = following
        if equal.delta(most, equal.sums(most), Fraction(0)) <= ball(delta):
            return Fraction(0), Fraction(0)
    raise ArithmeticError("no cell holds the root")


def equal_laplace_delta(law: LaplaceLoss, count: int, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε). Raises ``ArithmeticError``."""
    equal = _equal(law, count)
    if epsilon >= law.epsilon * count:
        return Fraction(0), Fraction(0)
    cell = equal.cell_of(epsilon)
    with precision(_BITS):
        found = equal.delta(cell, equal.sums(cell), epsilon)
        low, high = max(lower(found), Fraction(0)), upper(found)
    if high - low > _WIDEST * high:
        raise ArithmeticError("a sum cancels")
    return low, high


def _equal(law: LaplaceLoss, count: int) -> EqualLaplace:
    if not 2 <= count <= MOST:
        raise ArithmeticError("too many releases for a finite sum, or only one")
    return EqualLaplace(law, count)
