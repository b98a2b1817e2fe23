"""Encloses δ(ε) of the Laplace blanket on a grid, for batches too small for the contour: that answers 13 of 63.

Two laws on the same grid, one above and one below in the convex order (grid_law.py), enclose δ(ε); what they differ by falls
with the square of the step. One Fourier transform sums each (grid_sum.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.accountants.numerics.contour import NEARBY, normal_term, saddle
from dpaudit.accountants.numerics.grid_sum import Summand, log_lower, log_upper
from dpaudit.accountants.shuffle.laplace.grid_law import Grid, Ratios
from dpaudit.accountants.shuffle.laplace.quadrature import LaplaceFloats

_KNOTS = 8192
_MOST_NODES = 17  # log2
_FEWEST_NODES = 256  # of an estimate
_PERIOD = 1.4  # of the grid's Fourier transform, in units of 2π times the tilted deviation of the sum
_OUT_OF_SIGHT = 14.0  # e^-14: how much less likely values below all knots make the sum, under the tilt


@dataclass(frozen=True)
class GridPlan:
    """The abscissa c, the number of nodes, and the knots on either side of 0."""

    c: float
    nodes: int
    above: int
    below: int


def enclosed(epsilon0: Fraction, n: int, epsilon: Fraction, steps: int, attack: bool = False) -> tuple[float, float]:
    """The logs of a lower and an upper bound on δ(ε) for ε < ε0: of the blanket, or of the attack of blanket.py.

    δ rises with ε0 and falls with ε, so both are rounded outward to floats.
    """
    least = _rounded(epsilon, epsilon0, steps, attack, up=False)
    most = _rounded(epsilon, epsilon0, steps, attack, up=True)
    if most is None:
        return -math.inf, 0.0
    floats = LaplaceFloats(most.epsilon0, steps, n, most.epsilon, attack)
    if floats.top <= 0:  # ε and ε0 differ by less than a float can tell
        return -math.inf, 0.0
    plan = _plan(most, floats, None)
    low = -math.inf
    if least is not None:
        low = log_lower(_summand(Grid(least, plan.above, plan.below, up=False)), n, plan.c, plan.nodes)
    return low, min(0.0, log_upper(_summand(Grid(most, plan.above, plan.below, up=True)), n, plan.c, plan.nodes))


def estimated(epsilon0: float, n: int, epsilon: float, steps: int, attack: bool = False, near: float | None = None) -> float:
    """log δ(ε) on a coarse grid, corrected for what moving the points to the knots has done to the cumulants at c."""
    law, floats = Ratios(epsilon, epsilon0 - epsilon, steps, attack), LaplaceFloats(epsilon0, steps, n, epsilon, attack)
    plan = _plan(law, floats, _FEWEST_NODES, near)
    summand = _summand(Grid(law, plan.above, plan.below, up=True))
    moved = _normal(n, plan.c, *floats.cumulants(plan.c)) - _normal(n, plan.c, *summand.cumulants(plan.c))
    return min(0.0, log_upper(summand, n, plan.c, plan.nodes) + moved)


def _normal(n: int, c: float, height: float, slope: float, curvature: float) -> float:
    return normal_term(n, c, n * height, n * slope - 2 / c, n * curvature)


def _summand(grid: Grid) -> Summand:
    return Summand(grid.knots, grid.step, grid.above_it() if grid.up else grid.below_it(), grid.law.mass)


def _rounded(epsilon: Fraction, epsilon0: Fraction, steps: int, attack: bool, *, up: bool) -> Ratios | None:
    """ε and ε0 − ε as floats: ε rounded against, ε0 along the direction; None if they cannot be told apart."""
    near = _to_float(epsilon, up=not up)
    gap = _to_float(epsilon0 - Fraction(near), up=up)
    return Ratios(near, gap, steps, attack) if gap > 0 and near >= 0 else None


def _to_float(value: Fraction, *, up: bool) -> float:
    near = float(value)
    if up and Fraction(near) < value:
        return math.nextafter(near, math.inf)
    return math.nextafter(near, -math.inf) if not up and Fraction(near) > value else near


def _plan(law: Ratios, floats: LaplaceFloats, nodes: int | None, near: float | None = None) -> GridPlan:
    n, at = floats.n, saddle(floats, near, NEARBY if nodes else 1e-3)
    c, width = at.c, math.sqrt(at.deviation**2 + 2 / at.c**2)
    if nodes is None:
        weights, values = floats.points
        active = n * float(weights @ np.exp(c * values)) * math.exp(-floats.cumulants(c)[0])
        nodes = 2 ** min(_MOST_NODES - 1, max(11, math.ceil(math.log2(500 * math.sqrt(active)))))
    reach = min(-law.bottom, (_OUT_OF_SIGHT + math.log1p(n * law.mass)) / c)
    step = 2 * math.pi * _PERIOD * width / nodes
    while (law.top + reach) / step > _KNOTS and nodes > 512:
        step, nodes = 2 * step, nodes // 2
    above = max(8, math.ceil(law.top / step))
    below = math.ceil(min(reach / law.top * above, _KNOTS))
    if reach == -law.bottom and below < _KNOTS:
        choices, ratio = np.arange(above, above + max(8, above // 4) + 1), -law.bottom / law.top
        above = int(choices[np.argmin(choices * ratio % 1)])  # the low end just below a knot
        below = math.floor(above * ratio) + 1
    nodes = 2 ** min(_MOST_NODES, math.ceil(math.log2(2 * math.pi * _PERIOD * width / law.top * above)))
    return GridPlan(c, nodes, above, below)
