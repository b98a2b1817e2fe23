"""The privacy loss L = log p(O|D)/p(O|D') of one mechanism under a fixed dominating pair, through its moment function.

Each law here is the law of L under P. It is symmetric (P and Q may change places), it does not depend on the data, and it
dominates every query of at most that sensitivity, chosen in advance or not; so the loss of a composition is dominated by the sum
of independent losses (Zhu, Dong, Wang 2022, Thm 10). ``top`` is a reference: the largest loss where there is one, else 0, and
moments are those of L − top, which do not overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import flint
import numpy as np
import numpy.typing as npt

from dpaudit.accountants.numerics.contour import log1p
from dpaudit.claims.balls import Ball, ball

Complexes = npt.NDArray[np.complex128]
Floats = npt.NDArray[np.float64]
Atom = tuple[Fraction, Ball]  # how far below the top, and its probability

_RUN = 64  # masses to a polynomial
FINE = 512  # Laplace noise whose query moves by more steps than this has two atoms and an inner part


class PrivacyLoss(Protocol):
    """The law of one loss, apart from P(L = ∞). Equal laws compare equal: a composition counts them."""

    @property
    def top(self) -> Fraction: ...

    @property
    def gap(self) -> Fraction:
        """The atoms are whole multiples of it below the top; 0 if there are none."""

    def atoms(self) -> Iterator[Atom]:
        """The atoms, from the top down, at the precision of the caller."""

    def moment(self, z: Any) -> tuple[Any, Any]:
        """Enclosures of E e^{z(L−top)}, Re z > 0, as ``acb``: of all of it, and of what goes with the atoms alone."""

    def log_moment(self, z: Complexes) -> Complexes:
        """The logarithm of the first in floats, for searches only."""

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Per interval [low, high]: a lower bound (0 or more) on −log |E e^{(c+it)L}/E e^{cL}| for all t in it, and an upper
        bound on the share that is not from atoms in what bounds |E e^{(c+it)L}|. In floats, with a margin for their rounding."""


@dataclass(frozen=True)
class ResponseLoss:
    """Randomised response: L = ±ε, +ε with probability e^ε/(1+e^ε)."""

    epsilon: Fraction

    @property
    def top(self) -> Fraction:
        return self.epsilon

    @property
    def gap(self) -> Fraction:
        return 2 * self.epsilon

    def atoms(self) -> Iterator[Atom]:
        odds = ball(-self.epsilon).exp()
        yield Fraction(0), 1 / (1 + odds)
        yield 2 * self.epsilon, odds / (1 + odds)

    def moment(self, z: Any) -> tuple[Any, Any]:
        value = (1 + _returned(self.epsilon, z)) / (1 + _exp(-self.epsilon, flint.ctx.prec))
        return value, value

    def log_moment(self, z: Complexes) -> Complexes:
        e = float(self.epsilon)
        return log1p(np.asarray(math.exp(-e) * np.expm1(-2 * e * z) / (1 + math.exp(-e)), dtype=np.complex128))

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        e = float(self.epsilon)
        u = math.exp(-e * (1 + 2 * c))
        return cautious(-np.log1p(-4 * u * least_sine(e, low, high) ** 2 / (1 + u) ** 2) / 2), np.zeros_like(low)


@dataclass(frozen=True)
class LaplaceLoss:
    """Discrete Laplace noise whose query moves by ``steps`` of the grid, at pure cost ε; a = ε/steps, r = e^-a.

    L = ε with probability 1/(1+r), −ε with e^-ε/(1+r), and ε − 2ao with tanh(a/2) r^o for 0 < o < steps. The inner part is a
    geometric sum in ρ = e^{−a(1+2z)}.
    """

    epsilon: Fraction
    steps: int

    @property
    def top(self) -> Fraction:
        return self.epsilon

    @property
    def gap(self) -> Fraction:
        return 2 * self.epsilon / (1 if self.steps > FINE else self.steps)

    def atoms(self) -> Iterator[Atom]:
        a = self.epsilon / self.steps
        r = ball(-a).exp()
        yield Fraction(0), 1 / (1 + r)
        if self.steps <= FINE:
            for o in range(1, self.steps):
                yield 2 * a * o, (1 - r) / (1 + r) * ball(-a * o).exp()
        yield 2 * self.epsilon, ball(-self.epsilon).exp() / (1 + r)

    def moment(self, z: Any) -> tuple[Any, Any]:
        r = _exp(-self.epsilon / self.steps, flint.ctx.prec)
        back = _returned(self.epsilon, z)
        ends = (1 + back) / (1 + r)
        if self.steps == 1:
            return ends, ends
        rho = (-ball(self.epsilon / self.steps) * (1 + 2 * z)).exp()
        value = ends + (1 - r) / (1 + r) * (rho - back) / (1 - rho)
        return value, ends if self.steps > FINE else value

    def log_moment(self, z: Complexes) -> Complexes:
        e, a = float(self.epsilon), float(self.epsilon / self.steps)
        less_one = math.exp(-e) * np.expm1(-2 * e * z) / (1 + math.exp(-a))
        if self.steps > 1:
            growth = np.expm1(-a * (1 + 2 * z))
            inner = math.tanh(a / 2) * (np.exp(-e * (1 + 2 * z)) - 1 - growth) / growth
            less_one = less_one + inner - (math.expm1(-a) - math.expm1(-e)) / (1 + math.exp(-a))
        return log1p(np.asarray(less_one, dtype=np.complex128))

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """|ends| exactly, the inner part by the smaller of its mass and |ρ − back|/|1 − ρ|, |1 − ρ| ≥ 2√|ρ| |sin at|."""
        e, a = float(self.epsilon), float(self.epsilon / self.steps)
        u, v = math.exp(-e * (1 + 2 * c)), math.exp(-a * (1 + 2 * c))
        weight, scale = math.tanh(a / 2), 1 + math.exp(-a)
        mass = weight * (v - u) / -math.expm1(-a * (1 + 2 * c))
        root = math.sqrt(v)
        most = weight * (root + u / root) / 2 if root else 0.0
        inner = np.minimum(mass, most / np.maximum(least_sine(a, low, high), 1e-300))
        ends = np.sqrt((1 + u) ** 2 - 4 * u * least_sine(e, low, high) ** 2) / scale
        share = inner / (ends + inner) * (1 + 1e-9) if self.steps > FINE else np.zeros_like(low)
        return cautious(-np.log((ends + inner) / ((1 + u) / scale + mass))), share


@dataclass(frozen=True)
class GaussianLoss:
    """N(0, σ²) noise: L ~ N(μ²/2, μ²) with μ² = (Δ/σ)². Losses of several add up their μ².

    It has no atoms, and smooths those of the others: where they are taken apart, it goes with them.
    """

    mu_squared: Fraction

    @property
    def top(self) -> Fraction:
        return Fraction(0)

    @property
    def gap(self) -> Fraction:
        return Fraction(0)

    def atoms(self) -> Iterator[Atom]:
        yield from ()

    def moment(self, z: Any) -> tuple[Any, Any]:
        value = (ball(self.mu_squared / 2) * z * (1 + z)).exp()
        return value, value

    def log_moment(self, z: Complexes) -> Complexes:
        return np.asarray(float(self.mu_squared) / 2 * z * (1 + z))

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return cautious(float(self.mu_squared) * low**2 / 2), np.zeros_like(low)


@dataclass(frozen=True)
class LatticeLoss:
    """Finitely many losses top − gap·i with exact probabilities ``masses[i]``."""

    top: Fraction
    gap: Fraction
    masses: tuple[Fraction, ...]

    def atoms(self) -> Iterator[Atom]:
        yield from ((self.gap * i, ball(mass)) for i, mass in enumerate(self.masses))

    def moment(self, z: Any) -> tuple[Any, Any]:
        """Σ in runs: in Horner's rule each turn may widen a ball by √2, and with it all that came before."""
        step, total = (-ball(self.gap) * z).exp(), flint.acb(0)
        for place, run in enumerate(self._runs(flint.ctx.prec)):
            total += run(step) * (-ball(self.gap * place * _RUN) * z).exp()
        return total, total

    def _runs(self, bits: int) -> list[Any]:
        """The masses as polynomials of a few each, at the current precision, which is ``bits``."""
        if bits not in self._polynomials:
            starts = range(0, len(self.masses), _RUN)
            self._polynomials[bits] = [flint.acb_poly([ball(mass) for mass in self.masses[i : i + _RUN]]) for i in starts]
        return self._polynomials[bits]

    @cached_property
    def _polynomials(self) -> dict[int, list[Any]]:
        return {}

    def log_moment(self, z: Complexes) -> Complexes:
        gaps = np.asarray(float(self.gap) * np.arange(len(self.masses)), dtype=np.float64)
        return log_mean(z, gaps, np.array([float(mass) for mass in self.masses]))

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return np.zeros_like(low), np.zeros_like(low)


@lru_cache(maxsize=256)
def _exp(value: Fraction, bits: int) -> Ball:
    """e^value at the current precision, which is ``bits``."""
    return ball(value).exp()


def _returned(epsilon: Fraction, z: Any) -> Any:
    """The weight e^{−ε(1+2z)} of the loss −ε against that of +ε."""
    return (-ball(epsilon) * (1 + 2 * z)).exp()


def log_mean(z: Complexes, below: Floats, shares: Floats) -> Complexes:
    """log Σ share·e^{−z·below} in floats; the largest term is taken out, so that none is lost."""
    likely = shares > 0
    terms = np.multiply.outer(z, -below[likely]) + np.log(shares[likely])
    peak = terms.real.max(axis=-1)
    return np.asarray(np.log(np.exp(terms - peak[..., None]).sum(axis=-1)) + peak, dtype=np.complex128)


def least_sine(rate: float, low: Floats, high: Floats) -> Floats:
    """The least |sin(rate·t)| over each interval; 0 where it holds a multiple of π/rate. Widened for the rounding."""
    first, last = rate * low * (1 - 1e-12), rate * high * (1 + 1e-12)
    crosses = np.floor(last / math.pi) > np.floor(first / math.pi)
    return np.where(crosses, 0.0, np.minimum(np.abs(np.sin(first)), np.abs(np.sin(last))))


def cautious(bound: Floats) -> Floats:
    """Less than a bound that floats computed, by far more than they can be wrong."""
    return np.maximum(0.0, bound * (1 - 1e-9) - 1e-13)
