"""Laplace noise on Poisson samples: ε(δ) and δ(ε) of releases, equal or not, and beside others, from laws on a grid of losses.

One kind of release: the grid begins at its least loss and ends at the largest, where the atoms are, so that both errors are of
second order. Several kinds share one unit; each grid begins at its own least loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint
import numpy as np

from dpaudit.accountants.numerics.elementary import Floats
from dpaudit.accountants.numerics.roots import Ends, log
from dpaudit.accountants.sampling.groups import DIRECTIONS, Direction
from dpaudit.accountants.sampling.lattice.grid_search import proven_ends
from dpaudit.accountants.sampling.lattice.loss_curves import Curve, Group, curve_of, grid_law
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw
from dpaudit.accountants.sampling.lattice.loss_sum import GridSum
from dpaudit.claims.balls import ball, lower, precision, upper

_BITS = 256
_CELLS, _COARSE = 512, 64  # of the grid; half as many make ends four times as far apart. For moments
_FEWEST_CELLS = 32
_MOST_POINTS = 2**19  # of a transform
_MIXED_POINTS, _MIXED_CELLS = 2**17, 6000  # of a transform, and of all grids together, for several kinds
_FINE = 2**-36  # offsets are multiples of it
_NATS = 30.0  # below δ: what comes round a window
_TILT = 0.8
_BELOW_SADDLE = 5.0  # nats between the bound by one moment and the δ that is planned for
MOST_COUNT, MOST_KINDS = 10**5, 48

Groups = Sequence[Group]


def _offset(curve: Curve) -> float:
    return math.ceil(upper(curve.least) / Fraction(_FINE)) * _FINE


@lru_cache(maxsize=64)
def _aligned(group: Group, direction: Direction, cells: int, *, up: bool) -> tuple[GridLaw, float]:
    """The law of one release on a grid that ends where its losses do, and its unit."""
    with precision(_BITS):
        curve = curve_of(group, direction)
        offset = _offset(curve)
        span = (upper(curve.most) if up else lower(curve.most)) - Fraction(offset)
        unit = float(span / cells)
        while (Fraction(unit) * cells < span) if up else (Fraction(unit) * cells > span):
            unit = math.nextafter(unit, math.inf if up else 0.0)
        if unit <= 0:
            raise ArithmeticError("the grid is too fine")
        return grid_law(curve, offset, unit, cells, up=up), unit


@lru_cache(maxsize=64)
def _on_unit(group: Group, direction: Direction, unit: float, *, up: bool) -> GridLaw:
    """The law of one release on a grid with this unit."""
    with precision(_BITS):
        curve = curve_of(group, direction)
        offset = _offset(curve)
        span = (upper(curve.most) if up else lower(curve.most)) - Fraction(offset)
        cells = math.ceil(span / Fraction(unit)) if up else math.floor(span / Fraction(unit))
        if cells < 2:
            raise ArithmeticError("the grid is too coarse")
        return grid_law(curve, offset, unit, cells, up=up)


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


def _saddle(groups: Groups, direction: Direction, log_delta: float | None, epsilon: float | None) -> _Saddle:
    coarse = [(*_aligned(group, direction, _COARSE, up=True), group.count) for group in groups]
    orders = np.geomspace(1e-4, 1, 200) * 500 / max(unit * _COARSE for _, unit, _ in coarse)

    def moments(c: Floats) -> Floats:
        return np.asarray(sum(_moments(law, unit, count, c) for law, unit, count in coarse))

    size = moments(orders) + orders * np.log(orders) - (1 + orders) * np.log1p(orders)
    if epsilon is None and log_delta is not None:
        values = (size - log_delta) / orders
        best = int(values.argmin())
        return _Saddle(max(0.0, float(values[best])), float(orders[best]), log_delta, moments)
    level = epsilon or 0.0
    values = size - orders * level
    best = int(values.argmin())
    return _Saddle(level, float(orders[best]), min(0.0, float(values[best])) - _BELOW_SADDLE, moments)


def _sums(groups: Groups, direction: Direction, at: _Saddle) -> tuple[GridSum, GridSum | None]:
    """(above, below) near the saddle; nothing below where the grid is too coarse for it."""
    c = _TILT * at.c
    end = float((at.moments(np.array([2 * at.c]))[0] + _NATS - at.log_delta) / (2 * at.c))
    end = max(end, at.epsilon + _NATS / c)
    period = max((_NATS - at.log_delta) / c, 1.02 * end)  # the window begins at or below 0
    if len(groups) > 1:
        return _mixed_sums(groups, direction, c, end, period)
    group, cells = groups[0], _CELLS
    while True:
        (above, up), (below, down) = (_aligned(group, direction, cells, up=side) for side in (True, False))
        length = 1 << max(math.ceil(math.log2(period / down)), math.ceil(math.log2(cells + 2)))
        if length <= _MOST_POINTS or cells <= _FEWEST_CELLS:
            break
        cells //= 2
    first = GridSum([(above, group.count)], up, c, length, end - period)
    return first, GridSum([(below, group.count)], down, c, length, end - period) if below.masses.any() else None


def _mixed_sums(groups: Groups, direction: Direction, c: float, end: float, period: float) -> tuple[GridSum, GridSum | None]:
    """The same on one unit: as fine as a transform and the grids of all kinds may be."""
    spans = [_aligned(group, direction, _COARSE, up=True)[1] * _COARSE for group in groups]
    unit = max(period / _MIXED_POINTS, sum(spans) / _MIXED_CELLS)
    laws = [[(_on_unit(group, direction, unit, up=side), group.count) for group in groups] for side in (True, False)]
    longest = max(len(law.masses) for law, _ in laws[0])
    length = 1 << math.ceil(math.log2(max(period / unit, longest + 2)))
    first = GridSum(laws[0], unit, c, length, end - period)
    return first, GridSum(laws[1], unit, c, length, end - period) if all(law.masses.any() for law, _ in laws[1]) else None


def _moment_ends(groups: Groups, direction: Direction, c: float, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Upper bounds on ε(δ) and on δ(ε) by the moment of order c: e^{K(c)+κ(c)−cε}, besides what is infinite."""
    missed = Fraction(0)
    with precision(_BITS):
        order = ball(Fraction(c))
        size = order * order.log() - (1 + order) * (1 + order).log()
        for group in groups:
            law, unit = _aligned(group, direction, _COARSE, up=True)
            missed += group.count * Fraction(law.infinite)
            total = flint.arb(0)
            for place in np.flatnonzero(law.masses):
                total += flint.arb(law.masses[place]) * (order * ball(int(place) * Fraction(unit) + Fraction(law.offset))).exp()
            size += group.count * total.log()
        by_order = upper((size - ball(delta - missed).log()) / order) if delta > missed else Fraction(2**60)
        return by_order, upper((size - order * ball(epsilon)).exp()) + missed


def laplace_samples_delta(groups: Groups, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε), the larger of both directions. Raises ``ArithmeticError`` where a grid fails."""
    low, high, at = Fraction(0), Fraction(0), float(epsilon)
    for direction in DIRECTIONS:
        with np.errstate(all="ignore"):
            near = _saddle(groups, direction, None, at)
            if low and _moment_ends(groups, direction, near.c, epsilon, low)[1] <= low:
                continue  # a moment keeps it below the other direction
            above, below = _sums(groups, direction, near)
            high = max(high, Fraction(min(1.0, above.delta(math.nextafter(at, 0.0))[1])))
            low = max(low, Fraction(max(0.0, below.delta(math.nextafter(at, math.inf))[0])) if below else low)
    return min(low, high), high


def laplace_samples_epsilon(groups: Groups, delta: Fraction) -> Ends:
    """Enclose the least ε with δ(ε) ≤ δ, the larger of both directions. Raises ``ArithmeticError`` where a grid fails."""
    ends = Ends(Fraction(0), Fraction(0))
    for direction in DIRECTIONS:
        with np.errstate(all="ignore"):
            at = _saddle(groups, direction, log(delta), None)
            if ends.lower and _moment_ends(groups, direction, at.c, ends.lower, delta)[0] <= ends.lower:
                continue  # a moment keeps it below the other direction
            found = proven_ends(*_sums(groups, direction, at), delta, at.epsilon)
        ends = Ends(max(ends.lower, found.lower), max(ends.upper, found.upper))
    return Ends(min(ends.lower, ends.upper), ends.upper)
