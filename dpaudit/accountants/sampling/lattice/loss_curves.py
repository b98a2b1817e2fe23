"""Privacy curves π(α) = E_Q (dP/dQ − α)_+ of single releases in closed form, and the laws on a grid of losses that enclose them.

Laplace noise P(k) ∝ r^{|k|}, r = e^{−a}, moved by m steps. Outputs k ≤ 0 are one outcome and so are those ≥ m: j = 0, …, m with
base loss a(2j − m), and of a sample w_j = 1 − q + q e^{a(2j−m)}. remove is (1−q)Q + qP against Q, add is the reverse.
π(α) = max over J of P(j ≥ J) − αQ(j ≥ J) in closed form: Q(j ≥ J) = r^J/(1+r), P(j ≥ J) = 1 − r^{m−J+1}/(1+r), 0 < J ≤ m.
Rate 1 is the noise without sampling, and m = 1 then is randomised response. Gaussian noise: Balle & Wang 2018, Thm 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import flint

from dpaudit.accountants.sampling.groups import Direction
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw, Point, gaps, hull, polygon_law
from dpaudit.claims.balls import Ball, ball

_TAIL = 16  # deviations of a Gaussian loss that a grid covers on either side; what is beyond counts as infinite


@dataclass(frozen=True)
class SampledLaplace:
    """``count`` releases of pure cost ``epsilon`` on everybody, whose queries move by ``steps`` of the grid, at this rate."""

    epsilon: Fraction
    steps: int
    rate: Fraction
    count: int = 1


@dataclass(frozen=True)
class PlainGaussian:
    """``count`` Gaussian releases without sampling, of this μ² each."""

    mu_squared: Fraction
    count: int = 1


Group = SampledLaplace | PlainGaussian


class Curve(Protocol):
    """π of one release at the precision of the caller; ``bounded``: nothing is left of it from ``most`` on."""

    least: Ball
    most: Ball
    bounded: bool

    def at(self, alpha: Ball) -> Point: ...


class LaplaceCurve:
    """π of one direction of Laplace noise on a sample, and where its losses begin and end; at the precision of the caller."""

    bounded = True

    def __init__(self, group: SampledLaplace, direction: Direction) -> None:
        self.steps, self.a, self.removed = group.steps, group.epsilon / group.steps, direction == "remove"
        self.q = ball(group.rate)
        self.r = ball(-self.a).exp()
        ends = [(1 - self.q + self.q * ball(sign * group.epsilon).exp()).log() for sign in (-1, 1)]
        self.least, self.most = ends if self.removed else (-ends[1], -ends[0])

    def _tails(self, j: int) -> tuple[Ball, Ball]:
        """(P, Q) of the outcomes on the side of j that has the larger ratios; j = 1, …, m."""
        if j < 1:
            return flint.arb(1), flint.arb(1)
        if j > self.steps:
            return flint.arb(0), flint.arb(0)
        if self.removed:  # outcomes j, …, m
            still, moved = self.r**j / (1 + self.r), 1 - self.r ** (self.steps - j + 1) / (1 + self.r)
            return (1 - self.q) * still + self.q * moved, still
        # outcomes 0, …, m − j, by symmetry those of j, …, m of the exchanged laws
        still, moved = 1 - self.r ** (self.steps - j + 1) / (1 + self.r), self.r**j / (1 + self.r)
        return still, (1 - self.q) * still + self.q * moved

    def at(self, alpha: Ball) -> Point:
        """π(α) and −π'(α): P(j ≥ J) − αQ(j ≥ J) rises in J while the ratio at J is below α, and falls from there on. Floats find
        the first J above α; if a neighbour has more, so may the next, up to one that is proven to have no more."""
        x = ((alpha if self.removed else 1 / alpha) - 1 + self.q) / self.q
        if self.removed:
            place = (float(x.log().mid()) / float(self.a) + self.steps) / 2 if x > 0 else 0.0
        else:
            place = (self.steps - float(x.log().mid()) / float(self.a)) / 2 if x > 0 else self.steps + 1.0
        guess = min(max(math.floor(place) + 1, 1), self.steps)
        best = self._gain(guess, alpha)
        for step in (-1, 1):
            j = guess + step
            while 1 <= j <= self.steps and not (other := self._gain(j, alpha))[0] <= best[0]:
                best = other if other[0].mid() > best[0].mid() else best
                j += step
        return Point(best[0] + flint.arb(0, 2.0**-180), best[1], None, None)

    def _gain(self, j: int, alpha: Ball) -> tuple[Ball, Ball]:
        p, q = self._tails(j)
        return p - alpha * q, q


class GaussianCurve:
    """π of N(μ², μ) against N(0, μ) in units of the loss, up to ``_TAIL`` deviations."""

    bounded = False

    def __init__(self, group: PlainGaussian) -> None:
        self.mu = ball(group.mu_squared).sqrt()
        reach = ball(group.mu_squared / 2 + math.ceil(_TAIL * math.sqrt(group.mu_squared) * 2**20) / Fraction(2**20))
        self.least, self.most = -reach, reach

    def at(self, alpha: Ball) -> Point:
        level, root = alpha.log() / self.mu, flint.arb(2).sqrt()
        p, q = (((level + shift) / root).erfc() / 2 for shift in (-self.mu / 2, self.mu / 2))
        return Point(p - alpha * q, q, None, None)


def curve_of(group: Group, direction: Direction) -> Curve:
    """The curve of one release, at the precision of the caller."""
    return LaplaceCurve(group, direction) if isinstance(group, SampledLaplace) else GaussianCurve(group)


def grid_law(curve: Curve, offset: float, unit: float, cells: int, *, up: bool) -> GridLaw:
    """A law on offset + i·unit, 0 ≤ i ≤ cells, whose curve lies above or below this one; at the precision of the caller.

    Above: the last place is at or beyond the largest loss, or the rest counts as infinite. Below: it is at or before it.
    """
    alphas = [ball(Fraction(unit) * i + Fraction(offset)).exp() for i in range(cells + 1)]
    points = [curve.at(alpha) for alpha in alphas]
    if up:
        heights = [point.height for point in points]
        if curve.bounded:  # right of the largest loss nothing is left
            heights[-1] = flint.arb(0)
        law = polygon_law(0, alphas, heights, list(range(cells + 1)), up=True)
        return GridLaw(0, law.masses, law.infinite, offset)
    # left of α_0 the polygon has slope −1, and the curve is at least 1 − α
    missed = points[0].height + alphas[0] - 1
    missed = missed.upper() if missed > 0 else abs(missed).upper()
    bounds = gaps(alphas, points, flint.arb(1))
    lowered = [(point.height - gap - missed).lower() for point, gap in zip(points, bounds, strict=True)]
    # in the last cell the tangent at its end, from 0 there on
    tangent = (points[-1].share * (alphas[-1] - alphas[-2])).lower()
    lowered[-2:] = [tangent if tangent < lowered[-2] else lowered[-2], flint.arb(0)]
    law = polygon_law(0, alphas, lowered, hull(alphas, lowered), up=False)
    return GridLaw(0, law.masses, 0.0, offset)
