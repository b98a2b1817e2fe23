"""δ(ε) of a sum of losses with few values on one lattice: 100 responses to 12 digits, where the contour alone has 3.

Their laws are multiplied out as polynomials in exact integers.

Coefficients are whole multiples of 2^-bits, rounded up for the upper end and down for the lower one. Atoms that are not on the
lattice are moved to it. (1 − e^ε y)_+ is convex and falls in y = e^{−L} = dQ/dP, for each of the independent losses, so

- up: an atom between two lattice points is divided between both such that its mass under P and under Q stays. As a curve, that
  joins the points (e^ε, δ(ε)) of the lattice by straight lines (Doroshenko et al. 2022, "Connect the dots");
- down: an atom goes to the next lower lattice point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint

from dpaudit.accountants.losses.gaussian_sum import GaussianCurve
from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LatticeLoss, PrivacyLoss
from dpaudit.claims.balls import Ball, ball, lower, upper

MOST = 4096  # lattice points

Parts = Sequence[tuple[PrivacyLoss, int]]


@dataclass(frozen=True)
class LatticeSum:
    """The law of top − ΣL at the multiples of ``spacing`` up to ``reach``; ``high`` and ``low`` are its masses times 2^bits.

    A Gaussian loss of ``mu_squared`` is added: each atom, x above ε, then counts Φ(x/μ + μ/2) − e^{−x} Φ(x/μ − μ/2) instead of
    (1 − e^{−x})_+. That differs by less than 2^-1000 where |x| is more than ``blurred`` = 60μ + μ².
    """

    spacing: Fraction
    reach: Fraction
    bits: int
    high: Sequence[int]
    low: Sequence[int]
    mu_squared: Fraction = Fraction(0)

    def delta(self, slack: Fraction) -> tuple[Any, Any]:
        """(lower, upper) as ``arb`` around δ(top − slack), at the precision of the caller. Beyond reach, upper is 1."""
        low = self._part(slack, self.low, self._low_sums)
        if slack + self.blurred > self.reach:
            return low, flint.arb(1)
        high = self._part(slack, self.high, self._high_sums)
        return low, high + flint.arb(2) ** -1000 if self.mu_squared else high

    @cached_property
    def blurred(self) -> Fraction:
        mu = math.sqrt(self.mu_squared)
        return Fraction(60 * mu + mu**2)

    def _part(self, slack: Fraction, masses: Sequence[int], sums: Sequence[tuple[int, Ball]]) -> Ball:
        clear = min(max(0, math.ceil((slack - self.blurred) / self.spacing)), len(sums))
        found = flint.arb(0)
        if clear:
            total, part = sums[clear - 1]
            found += total - ball(self.spacing * (clear - 1) - slack).exp() * part
        if self.mu_squared:
            gaussian = GaussianCurve(self.mu_squared)
            for i in range(clear, min(math.ceil((slack + self.blurred) / self.spacing), len(masses))):
                if masses[i]:
                    found += masses[i] * gaussian.at(ball(self.spacing * i - slack))[0]
        return found * flint.arb(2) ** -self.bits

    @cached_property
    def _high_sums(self) -> list[tuple[int, Ball]]:
        return list(_running(self.high, self.spacing))

    @cached_property
    def _low_sums(self) -> list[tuple[int, Ball]]:
        return list(_running(self.low, self.spacing))


def _running(masses: Sequence[int], spacing: Fraction) -> Iterator[tuple[int, Ball]]:
    """Σ_{i≤n} m_i and Σ_{i≤n} m_i e^{−spacing·(n−i)} for every n: δ there is the first less the second."""
    total, part, step = 0, flint.arb(0), ball(-spacing).exp()
    for mass in masses:
        total, part = total + mass, part * step + mass
        yield total, part


def spacing_for(parts: Parts, slack: Fraction) -> Fraction:
    """A spacing that is affordable for slacks up to ``slack`` and has all atoms on it; if there is none, those of most losses."""
    common, most, gap = Fraction(0), 0, Fraction(0)
    for law, count in parts:
        common = _gcd(common, law.gap)
        weight = count * (8 if isinstance(law, LatticeLoss) else 1)
        if law.gap and weight > most:
            most, gap = weight, law.gap
    if common * MOST >= slack:
        return common or Fraction(1)
    return gap / (gap * MOST // slack) if gap * MOST >= slack else slack / MOST


def moved(parts: Parts, spacing: Fraction, c: float) -> float:
    """Roughly the relative error of δ at the saddle point c from atoms that are moved to the lattice."""
    error = 0.0
    for law, count in parts:
        if (law.gap / spacing).denominator != 1:
            share = 1.0 if isinstance(law, LatticeLoss) else math.exp(-float(law.top) * (1 + 2 * c))
            error += count * share * float(spacing) * c
    return error


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def lattice_sum(parts: Parts, slack: Fraction, log_delta: float) -> LatticeSum:
    """The sum of the atoms of the laws for slacks up to ``slack``, accurate around δ. At the precision of the caller."""
    mu_squared = sum((count * law.mu_squared for law, count in parts if isinstance(law, GaussianLoss)), Fraction(0))
    atomic = [(law, count) for law, count in parts if not isinstance(law, GaussianLoss)]
    empty = LatticeSum(Fraction(1), Fraction(0), 0, (), (), mu_squared)
    spacing = spacing_for(atomic, slack + empty.blurred)
    points = math.ceil((slack + empty.blurred) / spacing) + 1
    count = sum(count for _, count in atomic)
    bits = 40 + math.ceil(max(0.0, -log_delta) / math.log(2)) + 2 * points.bit_length() + count.bit_length()
    high, low = (_product(atomic, spacing, points, bits, up=up) for up in (True, False))
    return replace(empty, spacing=spacing, reach=spacing * (points - 1), bits=bits, high=high, low=low)


def _product(parts: Parts, spacing: Fraction, points: int, bits: int, *, up: bool) -> list[int]:
    total = [2**bits]
    for law, count in parts:
        factor = _power(_on_lattice(law, spacing, points, bits, up=up), count, points, bits, up=up)
        total = factor if total == [2**bits] else _times(total, factor, points, bits, up=up)
    return total


def _power(base: list[int], exponent: int, points: int, bits: int, *, up: bool) -> list[int]:
    result: list[int] = []
    while exponent:
        if exponent & 1:
            result = base if not result else _times(result, base, points, bits, up=up)
        exponent >>= 1
        if exponent:
            base = _times(base, base, points, bits, up=up)
    return result


def _times(a: list[int], b: list[int], points: int, bits: int, *, up: bool) -> list[int]:
    """The product of two laws, cut off after so many points, rounded to the side of the end."""
    product = (flint.fmpz_poly(a) * flint.fmpz_poly(b)).coeffs()[:points]
    return [-(-value >> bits) for value in product] if up else [value >> bits for value in product]


def _on_lattice(law: PrivacyLoss, spacing: Fraction, points: int, bits: int, *, up: bool) -> list[int]:
    masses = [flint.arb(0)] * (points + 1)
    for below, mass in law.atoms():
        place = below / spacing
        first = int(place)
        if first >= points:
            break
        if place == first:
            masses[first] += mass
        elif up:
            # p_i + p_{i+1} = p and p_i e^{−(l + fb)} + p_{i+1} e^{−(l − (1−f)b)} = p e^{−l}
            above, under = ball(-(place - first) * spacing).exp(), ball((1 - (place - first)) * spacing).exp()
            share = (under - 1) / (under - above)
            masses[first] += mass * share
            masses[first + 1] += mass * (1 - share)
        else:
            masses[first + 1] += mass
    unit = 2**bits
    return [max(0, math.ceil(upper(m) * unit) if up else math.floor(lower(m) * unit)) for m in masses[:points]]
