"""Two laws on a regular grid around that of Laplace reports, one above and one below in the convex order.

A law is known by its potential U(x) = E(G − x)_+. With the other summands fixed at r, E(r + G)_+ = U(−r), so a law
whose potential is nowhere smaller gives no smaller E[S_+], one summand after the other; its mass may differ.
Replacing U by straight lines between the knots x_k = kh
raises it: each point moves to the two knots around it. Lowering U at the knots by at least the gap between the line
and U in the cells on either side puts the lines below U, and the lower convex hull of what is left is the potential
of a law below. In a cell of mass w whose mean lies at the share θ of its width, the gap is at most h·w·θ(1−θ); where
only one knot of a cell is lowered, h·w·(1−θ) on its right or h·w·θ on its left are enough.

The points (lattice.py): with a = ε0/m, the y-th from either end has the weight end·e^{ay}(1 − e^{−a}) and u =
e^{ε0−2ay}, so y' < y ≤ y'' weigh end·(e^{ay''} − e^{ay'}) together and have the mean u of the index (y'+y''+1)/2.
Left of the middle G = u − e, right of it 1 − eu.

All of this is in double precision. Rounding errors are below 2^-50 (1 + ε0) in every logarithm, hence below
``rounding`` of a cell's weight in every weight, a point that falls on the wrong side of a knot included: f(g) ≤ f(x)
+ (g−x)/h · (f(x+h) − f(x)) just beyond the knot x, so that little weight at the next knot covers it. The weights move
outward by that much. Above, end reports lie on the last knot, which is rounded up; below, it is rounded down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_UNIT = 2**160


@dataclass(frozen=True)
class Ratios:
    """G at ε of Laplace reports on ``steps`` steps with ε0 = ε + ``gap``: in the blanket, or in the attack of blanket.py."""

    epsilon: float
    gap: float
    steps: int
    attack: bool = False

    @cached_property
    def epsilon0(self) -> float:
        return self.epsilon + self.gap

    @cached_property
    def a(self) -> float:
        return self.epsilon0 / self.steps

    @cached_property
    def end(self) -> float:
        """The weight of the largest value."""
        return math.exp(-self.epsilon0) / (1 + math.exp(-self.a))

    @property
    def top(self) -> float:
        """The largest value of G: e^ε0 − e^ε."""
        return math.exp(self.epsilon) * math.expm1(self.gap)

    @property
    def left(self) -> int:
        """How many points have G = u − e, without the end."""
        return self.steps - 1 if self.attack else (self.steps - 1) // 2

    @property
    def right(self) -> int:
        """How many have G = 1 − eu, without the end."""
        return 0 if self.attack else (self.steps - 1) // 2

    @cached_property
    def singles(self) -> tuple[tuple[float, float], ...]:
        """(value, weight) of the other end, which has the smallest value, and of the middle point, if there is one."""
        if self.attack:
            return ((-math.exp(self.epsilon) * -math.expm1(-self.epsilon0 - self.epsilon), 1 / (1 + math.exp(-self.a))),)
        middle = math.tanh(self.a / 2) * math.exp(-self.epsilon0 / 2) if self.steps % 2 == 0 else 0.0
        return (-math.expm1(self.epsilon + self.epsilon0), self.end), (-math.expm1(self.epsilon), middle)

    @property
    def bottom(self) -> float:
        return self.singles[0][0]

    @cached_property
    def mass(self) -> float:
        """The weight of all points: γ, or 1."""
        return 1.0 if self.attack else 2 * self.end * math.exp(self.a * self.right) + self.singles[1][1]


@dataclass(frozen=True)
class Grid:
    """Knots kh from −``below`` to ``above``, where the last is at the largest value of G."""

    law: Ratios
    above: int
    below: int
    up: bool  # rounding

    @cached_property
    def step(self) -> float:
        return self.law.top / self.above * (1 + (2.0**-50 if self.up else -(2.0**-50)))

    @cached_property
    def knots(self) -> npt.NDArray[np.int64]:
        return np.arange(-self.below, self.above + 1)

    @property
    def rounding(self) -> float:
        return 2.0**-50 * (8 + self.law.epsilon0) * len(self.knots)

    @cached_property
    def cells(self) -> tuple[Floats, Floats, float]:
        """For each cell between two knots its weight, and its weight times θ; and the weight below all knots."""
        law, x = self.law, self.knots * self.step
        e, width = math.exp(law.epsilon), 2 * law.a
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(x > -e, _count((law.gap - np.log1p(x / e)) / width, law.left), law.left)
            right = np.where(x < 0, _count((law.epsilon0 + law.epsilon - np.log1p(-x)) / width, law.right), law.right)
        weight, moved = np.zeros(len(x) - 1), np.zeros(len(x) - 1)
        for first, last, sign in ((left[1:], left[:-1], 1), (right[:-1], right[1:], -1)):
            part = law.end * np.exp(law.a * first) * np.expm1(law.a * (last - first))
            index = law.a * (first + last + 1)
            mean = e * np.expm1(law.gap - index) if sign > 0 else -np.expm1(law.epsilon + law.epsilon0 - index)
            weight += part
            moved += part * (mean - x[:-1]) / self.step
        over = np.exp(law.a * left[0]) * np.expm1(law.a * (law.left - left[0]))
        under = law.end * float(np.expm1(law.a * right[0]) + over)
        for value, single in law.singles:
            place = math.floor(value / self.step) + self.below
            if place < 0:
                under += single
            else:
                weight[place] += single
                moved[place] += single * (value - x[place]) / self.step
        return weight, np.clip(moved, 0, weight), under

    def above_it(self) -> Floats:
        """The weights at the knots of a law above; what is below all knots is raised to the first."""
        weight, moved, under = self.cells
        found = self._joined(weight, moved)
        found[0] += under
        return found * (1 + self.rounding) + self.rounding * self._around(weight)

    def below_it(self) -> Floats:
        """The weights at the knots of a law below, or none; what is below all knots is left out."""
        weight, moved, _ = self.cells
        joined = self._joined(weight, moved)
        beside = np.convolve(weight, np.ones(2))
        kept = _integers(np.maximum(0.0, joined * (1 - self.rounding) - self.rounding * beside))
        most = math.ceil(sum(_integers(joined)) * (1 + 2 * self.rounding))
        lowered = self._lowered(_potential(kept), most)
        if min(lowered) < 0:
            return np.zeros(len(joined))
        corners = _hull(lowered)
        rises = [(lowered[j] - lowered[i], j - i) for i, j in pairwise(corners)]
        found = np.zeros(len(joined))
        for corner, (fall, before), (rise, after) in zip(corners, [(-most, 1), *rises], [*rises, (0, 1)], strict=True):
            found[corner] = (rise * before - fall * after) / (before * after * _UNIT)  # the change of slope
        return found * (1 - 5 * self.rounding)

    def _lowered(self, potential: list[int], mass: int) -> list[int]:
        """The potential lowered at the knots, so that straight lines between them stay below that of the blanket."""
        weight, moved, _ = self.cells
        slack = self.rounding * np.convolve(weight, np.ones(3))[1:-1]
        share = moved / np.maximum(weight, 1e-300)
        gap, right, left = ([x + 1 for x in _integers(part + slack)] for part in (moved * (1 - share), weight - moved, moved))
        alone = [
            4 * g > after for g, after in zip(gap, potential[1:], strict=True)
        ]  # too little beyond: the left knot does it alone
        of_left = [x if single else g for g, x, single in zip(gap, left, alone, strict=True)]
        of_right = [0 if single else g for g, single in zip(gap, alone, strict=True)]
        of_left[-1] = left[-1]  # the last knot stays
        lowered = [value - max(pair) for value, *pair in zip(potential[1:-1], of_right, of_left[1:], strict=False)]
        lowered = [potential[0], *lowered, 0]
        for k in range(len(weight)):
            # all the weight at the first knot: no law is below this line, so a knot stops there, and the other one does it alone
            here, after = potential[0] - mass * k, potential[0] - mass * (k + 1)
            if lowered[k] > here and lowered[k + 1] > after:
                continue
            lowered[k], lowered[k + 1] = max(here, lowered[k]), max(after, lowered[k + 1])
            by, by_after = potential[k] - lowered[k], potential[k + 1] - lowered[k + 1]
            if by >= left[k] or by_after >= right[k] or min(by, by_after) >= gap[k]:
                continue
            if lowered[k] == here:
                lowered[k + 1] = max(after, min(lowered[k + 1], potential[k + 1] - right[k]))
            else:
                lowered[k] = max(here, min(lowered[k], potential[k] - left[k]))
        return lowered

    def _joined(self, weight: Floats, moved: Floats) -> Floats:
        found = np.zeros(len(self.knots))
        found[:-1] += weight - moved
        found[1:] += moved
        found[-1] += self.law.end
        return found

    def _around(self, weight: Floats) -> Floats:
        """The weight of the two cells on either side of each knot."""
        return np.convolve(weight, np.ones(4))[1:-1]


def _count(place: Floats, most: int) -> Floats:
    """How many of the points 1, 2, …, ``most`` lie below a place."""
    return np.clip(np.ceil(place) - 1, 0.0, float(most))


def _integers(weights: Floats) -> list[int]:
    """Fixed point, rounded down: what follows is exact."""
    return [int(value) for value in weights * float(_UNIT)]


def _potential(weights: list[int]) -> list[int]:
    """Σ_{j>k} (j−k)·weight_j: the potential at the knots, in steps."""
    beyond = list(accumulate(reversed(weights)))[:-1]
    return [*reversed(list(accumulate(beyond))), 0]


def _hull(values: list[int]) -> list[int]:
    """The corners of the lower convex hull of (k, values[k])."""
    corners: list[int] = []
    for k, value in enumerate(values):
        while len(corners) > 1:
            i, j = corners[-2], corners[-1]
            if (values[j] - values[i]) * (k - i) < (value - values[i]) * (j - i):
                break
            corners.pop()
        corners.append(k)
    return corners
