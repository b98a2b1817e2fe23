"""Laplace noise on Poisson samples: ε(δ) and δ(ε) of equal releases, enclosed, from laws on a grid of losses.

Noise P(k) ∝ r^{|k|}, r = e^{−a}, moved by m steps. Outputs k ≤ 0 are one outcome and so are those ≥ m: j = 0, …, m with base
loss a(2j − m), and of a sample w_j = 1 − q + q e^{a(2j−m)}. remove is (1−q)Q + qP against Q, w rises in j; add is the reverse.
π(α) = max over J of P(j ≥ J) − αQ(j ≥ J) in closed form: Q(j ≥ J) = r^J/(1+r), P(j ≥ J) = 1 − r^{m−J+1}/(1+r), 0 < J ≤ m.
The grid begins at the least loss and ends at the largest, where the atoms are, so that both errors are of second order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint
import numpy as np

from dpaudit.accountants.sampling.contours.elementary import Floats
from dpaudit.accountants.sampling.contours.search import Ends, log
from dpaudit.accountants.sampling.groups import DIRECTIONS, Direction
from dpaudit.accountants.sampling.lattice.grid_search import proven_ends
from dpaudit.accountants.sampling.lattice.grid_sum import GridSum
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw, Point, gaps, hull, polygon_law
from dpaudit.claims.balls import Ball, ball, lower, precision, upper

_BITS = 256
_CELLS = 512  # of the grid; half as many make ends four times as far apart
_FEWEST_CELLS = 32
_MOST_POINTS = 2**19  # of a transform
_FINE = 2**-36  # offsets are multiples of it: n of them are exact in floats up to n = 10^5
_NATS = 30.0  # below δ: what comes round a window
_TILT = 0.8
_BELOW_SADDLE = 5.0  # nats between the bound by one moment and the δ that is planned for
MOST_COUNT = 10**5


@dataclass(frozen=True)
class SampledLaplace:
    """``count`` releases of pure cost ``epsilon`` on everybody, whose queries move by ``steps`` of the grid, at this rate."""

    epsilon: Fraction
    steps: int
    rate: Fraction
    count: int = 1


class _Curve:
    """π of one direction, and where its losses begin and end; at the precision of the caller."""

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


@lru_cache(maxsize=16)
def _laws(group: SampledLaplace, direction: Direction, cells: int) -> tuple[tuple[GridLaw, float], tuple[GridLaw, float]]:
    """((above, its unit), (below, its unit)) of one release."""
    with precision(_BITS):
        curve = _Curve(group, direction)
        offset = math.ceil(upper(curve.least) / Fraction(_FINE)) * _FINE
        laws = []
        for up in (True, False):
            span = (upper(curve.most) if up else lower(curve.most)) - Fraction(offset)
            unit = float(span / cells)
            while (unit * cells < span) if up else (unit * cells > span):
                unit = math.nextafter(unit, math.inf if up else 0.0)
            if unit <= 0:
                raise ArithmeticError("the grid is too fine")
            alphas = [ball(Fraction(unit) * i + Fraction(offset)).exp() for i in range(cells + 1)]
            points = [curve.at(alpha) for alpha in alphas]
            if up:  # right of the largest loss nothing is left
                heights = [point.height for point in points[:-1]] + [flint.arb(0)]
                law = polygon_law(0, alphas, heights, list(range(cells + 1)), up=True)
            else:
                # left of α_0 the polygon has slope −1, and the curve a little less down to its least loss
                missed = (alphas[0] - curve.least.exp()).upper()
                bounds = gaps(alphas, points, flint.arb(1))
                lowered = [(point.height - gap - missed).lower() for point, gap in zip(points, bounds, strict=True)]
                # in the last cell the tangent at its end, from 0 there on
                tangent = (points[-1].share * (alphas[-1] - alphas[-2])).lower()
                lowered[-2:] = [tangent if tangent < lowered[-2] else lowered[-2], flint.arb(0)]
                law = polygon_law(0, alphas, lowered, hull(alphas, lowered), up=False)
            infinite = law.infinite if up else 0.0
            laws.append((GridLaw(0, law.masses, infinite, offset), unit))
        return laws[0], laws[1]


def _moments(law: GridLaw, unit: float, count: int, orders: Floats) -> Floats:
    """K(c) of all releases, in floats."""
    used = np.flatnonzero(law.masses)
    exponents = np.multiply.outer(orders, used * unit + law.offset) + np.log(law.masses[used])
    top = exponents.max(axis=1)
    return np.asarray(count * (top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))))


@dataclass(frozen=True)
class _Saddle:
    """Where δ(ε) is looked for: an ε, the order there, the target ln δ, and K."""

    epsilon: float
    c: float
    log_delta: float
    moments: Callable[[Floats], Floats]


def _saddle(group: SampledLaplace, direction: Direction, log_delta: float | None, epsilon: float | None) -> _Saddle:
    (law, unit), _ = _laws(group, direction, 64)
    largest = 500 / (unit * 64)
    orders = np.geomspace(1e-4, 1, 200) * largest

    def moments(c: Floats) -> Floats:
        return _moments(law, unit, group.count, c)

    size = moments(orders) + orders * np.log(orders) - (1 + orders) * np.log1p(orders)
    if epsilon is None and log_delta is not None:
        values = (size - log_delta) / orders
        best = int(values.argmin())
        return _Saddle(max(0.0, float(values[best])), float(orders[best]), log_delta, moments)
    level = epsilon or 0.0
    values = size - orders * level
    best = int(values.argmin())
    return _Saddle(level, float(orders[best]), min(0.0, float(values[best])) - _BELOW_SADDLE, moments)


def _sums(group: SampledLaplace, direction: Direction, at: _Saddle) -> tuple[GridSum, GridSum | None]:
    """(above, below) near the saddle; nothing below where the grid is too coarse for it."""
    c = _TILT * at.c
    end = float((at.moments(np.array([2 * at.c]))[0] + _NATS - at.log_delta) / (2 * at.c))
    end = max(end, at.epsilon + _NATS / c)
    period = max((_NATS - at.log_delta) / c, 1.02 * end)  # the window begins at or below 0
    cells = _CELLS
    while True:
        (above, up), (below, down) = _laws(group, direction, cells)
        length = 1 << max(math.ceil(math.log2(period / down)), math.ceil(math.log2(cells + 2)))
        if length <= _MOST_POINTS or cells <= _FEWEST_CELLS:
            break
        cells //= 2
    begin = end - period
    first = GridSum([(above, group.count)], up, c, length, begin)
    return first, GridSum([(below, group.count)], down, c, length, begin) if below.masses.any() else None


def _moment_ends(
    group: SampledLaplace, direction: Direction, c: float, epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, Fraction]:
    """Upper bounds on ε(δ) and on δ(ε) by the moment of order c: e^{K(c)+κ(c)−cε}, besides what is infinite."""
    (law, unit), _ = _laws(group, direction, 64)
    missed = group.count * Fraction(law.infinite)
    with precision(_BITS):
        order, total = ball(Fraction(c)), flint.arb(0)
        for place in np.flatnonzero(law.masses):
            total += flint.arb(law.masses[place]) * (order * ball(int(place) * Fraction(unit) + Fraction(law.offset))).exp()
        size = group.count * total.log() + order * order.log() - (1 + order) * (1 + order).log()
        return upper((size - ball(delta - missed).log()) / order), upper((size - order * ball(epsilon)).exp()) + missed


def laplace_samples_delta(group: SampledLaplace, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε), the larger of both directions."""
    low, high, at = Fraction(0), Fraction(0), float(epsilon)
    for direction in DIRECTIONS:
        with np.errstate(all="ignore"):
            near = _saddle(group, direction, None, at)
            if low and _moment_ends(group, direction, near.c, epsilon, low)[1] <= low:
                continue  # a moment keeps it below the other direction
            above, below = _sums(group, direction, near)
            high = max(high, Fraction(min(1.0, above.delta(math.nextafter(at, 0.0))[1])))
            low = max(low, Fraction(max(0.0, below.delta(math.nextafter(at, math.inf))[0])) if below else low)
    return min(low, high), high


def laplace_samples_epsilon(group: SampledLaplace, delta: Fraction) -> Ends:
    """Enclose the least ε with δ(ε) ≤ δ, the larger of both directions."""
    ends = Ends(Fraction(0), Fraction(0))
    for direction in DIRECTIONS:
        with np.errstate(all="ignore"):
            at = _saddle(group, direction, log(delta), None)
            if ends.lower and _moment_ends(group, direction, at.c, ends.lower, delta)[0] <= ends.lower:
                continue  # a moment keeps it below the other direction
            above, below = _sums(group, direction, at)
            found = proven_ends(above, below, delta, at.epsilon)
        ends = Ends(max(ends.lower, found.lower), max(ends.upper, found.upper))
    return Ends(min(ends.lower, ends.upper), ends.upper)
