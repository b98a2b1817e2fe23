"""ε at δ where only the sum of n noisy reports is seen, and with it the noise of all of them.

K = the sum of n independent discrete Laplace noises: symmetric and log-concave. One record moves the sum by at most k units, so
δ(ε) = max_m D(m), D(m) = P(K ≥ m) − e^ε P(K ≥ m+k): the ratio P(K=m)/P(K=m+k) grows with m (log-concavity), hence the best
event is a half-line, and D rises up to the m where that ratio passes e^ε and falls after it.

φ(z) = E e^{zK} = (1 − sinh²(z/2)/sinh²(a/2))^{−n} for |Re z| < a = grid/scale. With z = c + iθ, 0 < c < a, the integral of
φ(z) e^{−zm}/2π over −π < θ < π is P(K = m), and with the kernel 1/(1 − e^{−z}) it is P(K ≥ m). The trapezoid sum with N
nodes is Σ_j e^{cjN} P(K ≥ m+jN) over all integers j: all terms are ≥ 0, so it is an upper bound. Its excess is at most
q/(1−q), q = e^{−cN}, for j < 0, and φ(b) e^{−bm} r/(1−r), r = e^{−(b−c)N}, c < b < a, for j > 0 (Chernoff). Nodes beyond
some θ are left out: |φ(c+iθ)| and |1 − e^{−c−iθ}|^{−1} fall in θ up to π, so each adds at most its value there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import flint
import numpy as np
from scipy.optimize import brentq

from dpaudit.accountants.numerics.contour import log1p
from dpaudit.accountants.numerics.roots import Root, certified_ends, log
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, whole
from dpaudit.claims.balls import Ball, ball, lower, precision, upper
from dpaudit.noise import Noise

FEWEST = 8  # reports: the noise of fewer is hardly more than one's own, and φ falls too slowly to be summed
_BITS = 128
_NEGLIGIBLE = 50.0  # what is below e^-50 of the whole is left out, and bounded


def summed(noise: Noise, sensitivity_units: int, n: int, delta: Number) -> Enclosure:
    """Enclose the least ε at δ of a sum of n reports in which one report moves by at most ``sensitivity_units``.

    For honest clients whose reports are seen through their sum alone. Never above the ε of one report on its own, which is
    the upper end where δ = 0 or n < 8. Raises ``InvalidValue``.
    """
    k, count, failure = whole(sensitivity_units, "sensitivity_units", 0), whole(n, "n", 1), exact_delta(delta)
    if noise.rate is None:
        raise InvalidValue("noise", noise.name, "Laplace noise: the law of a sum of its reports is known")
    alone = k * noise.rate
    if failure == 0 or k == 0:
        return Enclosure(alone, alone, True, "one report alone")
    if count < FEWEST:
        return Enclosure(Fraction(0), alone, True, "one report alone")
    low, high = _least_epsilon(noise.rate, k, count, failure)
    return Enclosure(low, high, True, "one report alone" if high == alone else "sum of the reports' noises")


@lru_cache(maxsize=1024)
def _least_epsilon(rate: Fraction, k: int, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    law, alone = Sum(rate, n), k * rate

    def point(t: float) -> Fraction:
        return min(alone, Fraction(math.exp(t)).limit_denominator(10**15))

    # around a normal law's log δ ≈ −ε²/(2μ²), in log ε: a slope of 2 log δ
    root = Root(math.log(_estimate(law, k, delta)), 2 * log(delta))
    safe, unsafe = certified_ends(lambda epsilon: law.delta(epsilon, k), point, root, delta)
    return unsafe or Fraction(0), safe or alone


def _estimate(law: Sum, k: int, delta: Fraction) -> Fraction:
    def log_delta(epsilon: float) -> float:
        m = law.threshold(epsilon, k)
        gap = law.log_probability(m + k, tail=True) + epsilon - law.log_probability(m, tail=True)
        return law.log_probability(m, tail=True) + math.log(-math.expm1(gap)) if gap < 0 else -1e9

    ends = [math.log(k * float(law.rate) * share) for share in (1e-9, 1 - 1e-9)]
    if not log_delta(math.exp(ends[0])) > log(delta) > log_delta(math.exp(ends[1])):
        return k * law.rate
    root = brentq(lambda x: log_delta(math.exp(x)) - log(delta), *ends, xtol=1e-12)
    return Fraction(math.exp(root)).limit_denominator(10**15)


class SumPlan(NamedTuple):
    """The contour: abscissa c, Chernoff's b, the odd number N of nodes on the circle, and how many to take on one side."""

    c: float
    b: float
    period: int
    nodes: int


@dataclass(frozen=True)
class Sum:
    """The law of the sum of ``n`` discrete Laplace noises of rate a: floats for the search, balls for the certificate."""

    rate: Fraction
    n: int

    def delta(self, epsilon: Fraction, k: int) -> tuple[Fraction, Fraction]:
        """Certified (lower, upper) of δ(ε) when the sum moves by at most k units."""
        if epsilon >= k * self.rate:
            return Fraction(0), Fraction(0)
        with precision(_BITS + 2 * self.n.bit_length()):
            m, e = self.threshold(float(epsilon), k, 1e-8), ball(epsilon).exp()
            here = self.tail(m) - e * self.tail(m + k)
            first = last = m  # D is largest somewhere from first to last
            width = max(1, int(1e-7 * self.deviation))
            while width < 2**60 and not (self._rise(first - 1, k, e) > 0 and self._rise(last, k, e) < 0):
                first, last, width = m - width, m + width, 8 * width
            most = self.tail(first) - e * self.tail(last + k)
            if last > first:  # P(K=m+k)/P(K=m) falls in m, so no step from first on rises relatively more than the first one
                steepest = (last - first) * self.mass(max(first, 0)) * self._rise(first, k, e) / self.mass(first)
                most = self.tail(first) - e * self.tail(first + k) + flint.arb(steepest.upper()).max(0)
            return max(Fraction(0), lower(here)), max(Fraction(0), upper(most))

    def _rise(self, m: int, k: int, e: Ball) -> Ball:
        """D(m+1) − D(m)."""
        return e * self.mass(m + k) - self.mass(m)

    def mass(self, m: int) -> Ball:
        return self._enclosed(abs(m), tail=False)

    def tail(self, m: int) -> Ball:
        """P(K ≥ m)."""
        return self._enclosed(m, tail=True) if m > 0 else 1 - self._enclosed(1 - m, tail=True)

    def _enclosed(self, m: int, *, tail: bool) -> Ball:
        plan = self.plan(m, tail)
        c, step, half = flint.arb(plan.c), 2 * flint.arb.pi() / plan.period, (ball(self.rate) / 2).sinh()
        total, size = flint.arb(0), flint.arb(0)
        for j in range(plan.nodes):
            z = flint.acb(c, step * j)
            value = (1 - ((z / 2).sinh() / half) ** 2) ** -self.n * (-z * m).exp()
            value = value / (1 - (-z).exp()) if tail else value
            total += value.real if j == 0 else 2 * value.real
            size = value.abs_upper()
        rest = max(0, plan.period - 2 * plan.nodes + 1) * size
        b = flint.arb(plan.b)
        growth = (1 - ((b / 2).sinh() / half) ** 2) ** -self.n * (-b * m).exp()
        q, r = (-c * plan.period).exp(), (-(b - c) * plan.period).exp()
        excess = q / (1 - q) + growth * r / (1 - r)
        return (total + flint.arb(0, rest.abs_upper())) / plan.period - flint.arb(0.5, 0.5) * excess

    def log_probability(self, m: int, *, tail: bool) -> float:
        """log P(K ≥ m) or log P(K = m) in floats."""
        if tail and m <= 0:
            return math.log1p(-math.exp(self.log_probability(1 - m, tail=True)))
        plan = self.plan(abs(m), tail)
        z = plan.c + 2j * math.pi / plan.period * np.arange(plan.nodes)
        exponent = -self.n * log1p(-((np.sinh(z / 2) / math.sinh(float(self.rate) / 2)) ** 2)) - z * abs(m)
        peak = float(exponent[0].real)
        terms = (np.exp(exponent - peak) / (-np.expm1(-z) if tail else 1)).real
        total = (2 * float(terms.sum()) - float(terms[0])) / plan.period
        return peak + math.log(total) if total > 0 else -math.inf

    @property
    def deviation(self) -> float:
        return math.sqrt(self.n / 2) / math.sinh(float(self.rate) / 2)

    def threshold(self, epsilon: float, k: int, tolerance: float = 1e-4) -> int:
        """The least m with P(K=m) ≥ e^ε P(K=m+k), in floats, to about ``tolerance`` deviations; the ratio is 1 at m = −k/2."""

        def missing(m: float) -> float:
            at = math.ceil(m)
            return self.log_probability(at + k, tail=False) + epsilon - self.log_probability(at, tail=False)

        low, high = -(k // 2) - 1.0, max(k, self.deviation)
        while missing(high) > 0 and high < 2**60:
            low, high = high, 4 * high
        if missing(low) <= 0:
            return math.ceil(low)
        near = math.ceil(brentq(missing, low, high, xtol=max(0.25, tolerance * self.deviation), rtol=1e-15))
        return next((m for m in (near - 1, near, near + 1) if missing(m) <= 0 < missing(m - 1)), near)

    def plan(self, m: int, tail: bool) -> SumPlan:
        """Any c in (0, a) and any numbers of nodes are valid; these make the enclosure narrow."""
        a = float(self.rate)
        low, high = 0.0, a
        for _ in range(50):  # φ(c) e^{−cm}/c is smallest where its logarithmic derivative is 0
            c = (low + high) / 2
            ratio = (math.sinh(c / 2) / math.sinh(a / 2)) ** 2
            slope = math.inf if ratio >= 1 else self.n * ratio / math.tanh(c / 2) / (1 - ratio) - m - 1 / c
            low, high = (c, high) if slope < 0 else (low, c)
        c = max(low, a * 1e-12)
        # both aliases below e^-50 of what is looked for, of which e^{-cm} φ(c) is about the size, a point's share less
        need = _NEGLIGIBLE + math.log(self.deviation + 2)
        b = min((c + a) / 2, c + 12 / self.deviation)
        growth = self._log_moment(b) - self._log_moment(c) - (b - c) * m
        period = math.ceil(max((need + c * m - self._log_moment(c)) / c, (need + max(growth, 0)) / (b - c), 4)) | 1
        reach = 2 * math.pi / period
        while reach < math.pi and self._fall(c, reach) < _NEGLIGIBLE:
            reach *= 1.25
        return SumPlan(c, b, period, min((period + 1) // 2, math.ceil(reach * period / (2 * math.pi)) + 1))

    def _log_moment(self, c: float) -> float:
        return -self.n * math.log1p(-((math.sinh(c / 2) / math.sinh(float(self.rate) / 2)) ** 2))

    def _fall(self, c: float, theta: float) -> float:
        """−log |φ(c+iθ)/φ(c)|: |1 − te^{±z}|² = (1 − te^{±c})² + 4te^{±c} sin²(θ/2), t = e^{−a}."""
        a, turn = float(self.rate), 4 * math.sin(theta / 2) ** 2
        return self.n / 2 * sum(math.log1p(math.exp(s - a) * turn / math.expm1(s - a) ** 2) for s in (c, -c))
