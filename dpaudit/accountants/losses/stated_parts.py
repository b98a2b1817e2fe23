"""Parts of a composition that are known by a stated guarantee: ρ, a Rényi curve, or the law of a loss.

The moment of a loss is K(c) = ln E_P e^{cL}, c > 0, so that D_α = K(α − 1)/(α − 1). It is convex in c with K(0) = 0 for every
pair of laws, and moments of a composition add up, adaptive queries included. ρ-zCDP says K(c) ≤ ρc(c + 1) and nothing else: there
is no dominating pair, so a composition that holds such a part is bounded by moments at real orders alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import (
    Atom,
    Complexes,
    Floats,
    LatticeLoss,
    PrivacyLoss,
    cautious,
    least_sine,
    log_mean,
)
from dpaudit.claims.balls import Ball, ball, precision, upper

_PAIRS = 32  # pairs of atoms whose distance is used to show that a moment decays
_APART = 128  # losses that are taken one by one where they are on no lattice
_POINTS = 512  # of the lattice that more of them are moved to
_LONGEST = 8192  # points of a lattice that all losses are on
_BITS = 320
_UNIT = 2**240


@dataclass(frozen=True)
class Concentrated:
    """``count`` releases, each ρ-zCDP."""

    rho: Fraction
    count: int = 1

    def pure(self) -> Fraction | None:
        return None if self.rho else Fraction(0)

    def moment(self, c: Fraction) -> Fraction:
        """An upper bound on K(c) of one of them."""
        return self.rho * c * (c + 1)


@dataclass(frozen=True)
class RenyiCurve:
    """``count`` releases with D_α ≤ ε at the given orders (α, ε) in rising order.

    K is convex with K(0) = 0, hence below the lower convex hull of (0, 0) and the points (α − 1, (α − 1)ε): between two orders
    the straight line holds, below the first one the line to 0, and above the last one nothing is known.
    """

    curve: tuple[tuple[Fraction, Fraction], ...]
    count: int = 1

    def pure(self) -> Fraction | None:
        return None if any(epsilon for _, epsilon in self.curve) else Fraction(0)

    @cached_property
    def hull(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The corners (c, K) of the hull, from (0, 0) on."""
        corners: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(0))]
        for alpha, epsilon in self.curve:
            point = (alpha - 1, (alpha - 1) * epsilon)
            while len(corners) > 1 and _is_above(corners[-2], corners[-1], point):
                corners.pop()
            corners.append(point)
        return tuple(corners)

    @property
    def largest(self) -> Fraction:
        """The largest c at which anything is known."""
        return self.curve[-1][0] - 1

    def moment(self, c: Fraction) -> Fraction | None:
        """An upper bound on K(c) of one of them; None where nothing is known."""
        for (left, low), (right, high) in zip(self.hull, self.hull[1:], strict=False):
            if left < c <= right:
                return low + (high - low) * (c - left) / (right - left)
        return None


@dataclass(frozen=True)
class LossPart:
    """``count`` releases whose loss has these finite values, from the largest down, and is infinite with the rest."""

    losses: tuple[tuple[Fraction, Fraction], ...]
    infinite: Fraction
    count: int = 1

    @property
    def top(self) -> Fraction:
        return max(self.losses[0][0] if self.losses else Fraction(0), Fraction(0))

    def pure(self) -> Fraction | None:
        return None if self.infinite else self.top * self.count

    def law(self) -> PrivacyLoss:
        """The law of the loss where it is finite, bounded from above."""
        return stated_law(self.losses, 1 - self.infinite)


Stated = Concentrated | RenyiCurve | LossPart


def _is_above(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    """Is b on or above the line from a to c?"""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


@dataclass(frozen=True)
class StatedLoss:
    """Finitely many losses with exact probabilities, from the largest down; they may add up to a hair more than 1."""

    values: tuple[tuple[Fraction, Fraction], ...]

    @property
    def top(self) -> Fraction:
        return self.values[0][0]

    @cached_property
    def gap(self) -> Fraction:
        """The greatest number of which every distance to the top is a whole multiple."""
        below = [self.top - loss for loss, _ in self.values[1:]]
        if not below:
            return Fraction(1)
        denominator = math.lcm(*(step.denominator for step in below))
        return Fraction(math.gcd(*(int(step * denominator) for step in below)), denominator)

    def atoms(self) -> Iterator[Atom]:
        yield from ((self.top - loss, ball(share)) for loss, share in self.values)

    def moment(self, z: Any) -> tuple[Any, Any]:
        points = (self.top - self.values[-1][0]) / self.gap
        if points <= _LONGEST:
            value = _polynomial(self, flint.ctx.prec)((-ball(self.gap) * z).exp())
        else:
            value = sum((ball(share) * (-ball(self.top - loss) * z).exp() for loss, share in self.values), start=flint.acb(0))
        return value, value

    def log_moment(self, z: Complexes) -> Complexes:
        return log_mean(z, *self._floats)

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """|Σ a_j e^{−itx_j}|² = (Σ a_j)² − 4 Σ_{j<k} a_j a_k sin²((x_j − x_k)t/2), of which the heaviest pairs are used."""
        below, share = self._floats
        tilted = share * np.exp(-c * below)
        tilted = tilted / tilted.sum()
        heavy = np.argsort(tilted)[::-1][:_PAIRS]
        pairs = [(float(tilted[j] * tilted[k]), float(abs(below[j] - below[k]))) for j in heavy for k in heavy if j < k]
        lost = np.zeros_like(low)
        for weight, apart in sorted(pairs, reverse=True)[:_PAIRS]:
            lost += 4 * weight * least_sine(apart / 2, low, high) ** 2
        return cautious(-np.log1p(-np.minimum(lost, 1 - 1e-15)) / 2), np.zeros_like(low)

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        """Distances to the top, and probabilities."""
        below = np.array([float(self.top - loss) for loss, _ in self.values])
        return below, np.array([float(share) for _, share in self.values])


@lru_cache(maxsize=64)
def _polynomial(law: StatedLoss, bits: int) -> Any:
    """The law as a polynomial in e^{−gap·z}, at the current precision, which is ``bits``."""
    masses = [flint.acb(0)] * (int((law.top - law.values[-1][0]) / law.gap) + 1)
    for loss, share in law.values:
        masses[int((law.top - loss) / law.gap)] = flint.acb(ball(share))
    return flint.acb_poly(masses)


@lru_cache(maxsize=64)
def stated_law(losses: tuple[tuple[Fraction, Fraction], ...], total: Fraction) -> PrivacyLoss:
    """The law with these probabilities divided by ``total``: exactly, or on a lattice where it is long and on none."""
    law = StatedLoss(tuple((loss, share / total) for loss, share in losses))
    if len(losses) <= _APART or (law.top - losses[-1][0]) / law.gap <= _LONGEST:
        return law
    return _connected(law)


def _connected(law: StatedLoss) -> LatticeLoss:
    """Every loss divided between its two lattice points such that its mass under P and under Q stays, masses rounded up.

    As a curve, that joins points of (e^ε, δ(ε)) by straight lines (Doroshenko et al. 2022): it only rises.
    """
    gap = (law.top - law.values[-1][0]) / _POINTS
    masses: list[Ball] = [flint.arb(0)] * (_POINTS + 2)
    with precision(_BITS):
        for below, mass in law.atoms():
            place = below / gap
            first = int(place)
            above, under = ball(-(place - first) * gap).exp(), ball((1 - (place - first)) * gap).exp()
            share = (under - 1) / (under - above)
            masses[first] += mass * share
            masses[first + 1] += mass * (1 - share)
        exact = [Fraction(max(0, math.ceil(upper(mass) * _UNIT)), _UNIT) for mass in masses]
    return LatticeLoss(law.top, gap, tuple(exact[: _POINTS + 1]))
