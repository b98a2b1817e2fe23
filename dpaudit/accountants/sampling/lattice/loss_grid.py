"""Few releases at small rates: two laws on a grid of losses, one that dominates the sampled loss and one that it dominates.

π(α) = E_Q (w − α)_+ is the privacy curve of one release (remove), convex in α; a composition only grows if π does. On the grid
α_i = e^{iΔ}:
above: the polygon through π(α_i) ("connect the dots", Doroshenko et al. 2022). Its kinks are the masses of a law on the grid.
below: the convex hull of π(α_i) − e_i, e_i the largest gap between π and its chord in the two cells around α_i, which is at
    most the depth of the triangle of chord and tangents. A polygon that lies below its own chords less their gaps lies below π.
Right of the last α both have an atom at +∞ of mass π(α_last): exact as long as α ≤ α_last is all that the composition asks for,
which holds if α_last ≥ e^{ε − (sum of the least losses)}. Both errors are of the order n c² Δ²: small where n is.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.numerics.elementary import Floats
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.claims.balls import Ball, ball, precision

_BITS = 128
_UNIT = 120  # curves are fixed-point numbers with so many bits after the point
_CONCAVE = 1e-30  # rounding of the hull


@dataclass(frozen=True)
class GridLaw:
    """Masses under P of the losses (first + i)·Δ + offset, and of +∞; as floats, rounded up or down."""

    first: int
    masses: Floats
    infinite: float
    offset: float = 0.0


def grid_laws(group: SampledGaussian, unit: float, last: int) -> tuple[GridLaw, GridLaw]:
    """(above, below) on multiples of ``unit`` up to ``last``, for the direction remove."""
    first = math.floor(math.log1p(-float(group.rate)) / unit) - 1
    with precision(_BITS):
        alphas = [ball(Fraction(unit) * i).exp() for i in range(first, last + 1)]
        curve = _Curve(group)
        points = [curve.at(alpha) for alpha in alphas]
        heights = [point.height for point in points]
        above = polygon_law(first, alphas, heights, list(range(len(alphas))), up=True)
        bounds = gaps(alphas, points, curve.sigma)
        lowered = [(height - gap).lower() for height, gap in zip(heights, bounds, strict=True)]
        kept = hull(alphas, lowered)
        below = polygon_law(first, alphas, lowered, kept, up=False)
    return above, below


@dataclass(frozen=True)
class Point:
    """π, −π' = Q(w > α), and where α > 1 − q: u with w(u) = α, and α − (1 − q)."""

    height: Ball
    share: Ball
    u: Ball | None
    above: Ball | None


class _Curve:
    """π and −π' = Q(w > α) of one release; the constants are computed once."""

    def __init__(self, group: SampledGaussian) -> None:
        self.q, self.sigma = ball(group.rate), ball(group.sigma)
        self.root = flint.arb(2).sqrt()

    def at(self, alpha: Ball) -> Point:
        above = alpha - (1 - self.q)
        excess = above / self.q
        if not excess > 0:
            return Point(1 - alpha, flint.arb(1), None, None)  # below the least ratio, w > α always
        u = self.sigma * excess.log() + 1 / (2 * self.sigma)
        plain, moved = (u / self.root).erfc() / 2, ((u - 1 / self.sigma) / self.root).erfc() / 2
        return Point(self.q * moved - above * plain, plain, u, above)


def gaps(alphas: list[Ball], points: list[Point], sigma: Ball) -> list[Ball]:
    """Upper bounds e_i: the larger gap of the two cells around each point.

    The gap between π and its chord is at most the depth of the triangle of chord and tangents, and at most width²/8 times the
    largest π'' there, the density of w under Q: e^{−u²/2}σ/(√(2π)(α − 1 + q)), each factor at its largest in the cell.
    """
    cells, scale = [], sigma / (8 * (2 * flint.arb.pi()).sqrt())
    for i in range(len(alphas) - 1):
        here, there, width = points[i], points[i + 1], alphas[i + 1] - alphas[i]
        slope = (there.height - here.height) / width
        left, right = slope + here.share, -there.share - slope
        depth = left * right / (left + right) * width if left > 0 and right > 0 else flint.arb(0)
        bound = depth.upper() if depth.is_finite() else (left * width).upper()
        if here.u is not None and there.u is not None:
            nearest = flint.arb(0) if not here.u > 0 and not there.u < 0 else (here.u if here.u > 0 else there.u)
            bend = ((-nearest * nearest / 2).exp() * scale / here.above * width * width).upper()
            bound = bend if bend < bound else bound
        cells.append(bound if bound > 0 else flint.arb(0))
    around = [cells[0], *(a if a > b else b for a, b in itertools.pairwise(cells)), cells[-1]]
    return [flint.arb(each) for each in around]


def hull(alphas: list[Ball], heights: list[Ball]) -> list[int]:
    """The places of the lower convex hull's corners, without those that a line of slope −1 from a later one passes below:
    left of its first corner the polygon goes on with slope −1, as the curve does. None if it would fall below 0."""
    xs = [_fixed(alpha) for alpha in alphas]
    ys = [_fixed(height) for height in heights]
    corners: list[int] = []
    for i in range(len(xs)):
        while len(corners) >= 2:
            a, b = corners[-2], corners[-1]
            if (ys[b] - ys[a]) * (xs[i] - xs[b]) < (ys[i] - ys[b]) * (xs[b] - xs[a]):
                break
            corners.pop()
        corners.append(i)
    steep = 0
    while steep + 1 < len(corners):
        a, b = corners[steep], corners[steep + 1]
        if ys[b] - ys[a] >= xs[a] - xs[b]:
            break
        steep += 1
    while len(corners) > 1 and ys[corners[-1]] >= ys[corners[-2]]:  # right of its last corner the polygon is level
        corners.pop()
    return corners[steep:] if ys[corners[-1]] >= 0 else []


def _fixed(value: Any) -> int:
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    shift = exponent + _UNIT
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def polygon_law(first: int, alphas: list[Ball], heights: list[Any], corners: list[int], *, up: bool) -> GridLaw:
    """The kinks of the polygon through the corners: slope −1 before the first, 0 after the last, α_i times the kink is the
    mass."""
    masses = np.zeros(len(alphas))
    before: Any = flint.arb(-1)
    for place, i in enumerate(corners):
        after: Any = flint.arb(0)
        if place + 1 < len(corners):
            j = corners[place + 1]
            after = (heights[j] - heights[i]) / (alphas[j] - alphas[i])
        mass = alphas[i] * (after - before)
        masses[i] = math.nextafter(float(mass.upper()), math.inf) if up else math.nextafter(float(mass.lower()), -math.inf)
        before = after
    if not np.all(masses > -_CONCAVE):
        raise ArithmeticError("a polygon is not convex")
    end = heights[corners[-1]] if corners else flint.arb(0)
    # a mass of −10^-30 that is taken for 0 raises the curve by less than that
    slack = len(alphas) * _CONCAVE
    infinite = math.nextafter(float(end.upper()), math.inf) if up else math.nextafter(float(end.lower()), -math.inf) - slack
    return GridLaw(first, np.maximum(masses, 0.0), max(infinite, 0.0))
