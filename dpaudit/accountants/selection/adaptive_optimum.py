"""The exact cost of k releases that are each ε-bounded range and chosen adaptively, as an upper bound on a grid.

Dong, Durfee, Rogers 2020 (Optimal Differential Privacy Composition for Exponential Mechanisms): each release is dominated by
one of the pairs with loss t with probability q_t = (e^ε − e^t)/(e^ε − 1), else t − ε, 0 ≤ t ≤ ε, and t may depend on what came
before. So with x = e^s and δ_0(x) = (1 − x)_+ the recursion δ_k(x) = max_t q_t δ_{k−1}(x e^{−t}) + (1 − q_t) δ_{k−1}(x e^{ε−t})
gives what is attained.

δ_k falls and is convex in x, as each term is. Its values are held at x_i = e^{ih}, h = ε/m; between them a chord is never below
it. For τ = e^t in one cell [e^{jh}, e^{(j+1)h}] both arguments stay in one cell each, where the chords are α + βx: what is
maximised is a + bτ + c/τ. With b, c < 0, as for convex values, it is concave and largest at √(c/b) or the end of the cell next
to it; else at an end.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpaudit.claims.balls import ball, decimal, precision, upper

Floats = npt.NDArray[np.float64]

MOST_RELEASES = 128  # the cost grows with the square of their number
_WORK = 1.5e7  # cells that are looked at in all: the grid is as fine as that allows; half of it doubles the excess
_LARGEST_EPSILON = 5  # of one release
_COARSEST, _FINEST = 16, 256  # steps of the grid to an ε
# Rounding, absolute, of one value in one step, over E/(E − 1): with x|δ'| ≤ 1 and δ ≤ 1, each of the dozen terms is at most
# E/(E − 1) and each operation errs by 2^-53 of it; grid points err by 2^-52 of themselves, which moves δ by as much.
_ROUNDING = 64 * 2.0**-52
_DIGITS = 12


def tractable(epsilon: Fraction, count: int) -> bool:
    """Are they few enough, and their ε of a size that floats hold e^{count·ε} of?"""
    return count <= MOST_RELEASES and epsilon <= _LARGEST_EPSILON


def most_steps(count: int) -> int:
    """How fine a grid is affordable: ``count`` steps over 2·count·m points with m cells each."""
    return max(_COARSEST, min(_FINEST, int(math.sqrt(_WORK) / max(count, 1))))


@lru_cache(maxsize=256)
def adaptive_epsilon(epsilon: Fraction, count: int, delta: Fraction) -> Fraction:
    """An ε' at δ of ``count`` releases of ε-bounded range, rounded up; never above count·ε."""
    pure = epsilon * count
    steps = most_steps(count)
    points, values = adaptive_curve(float(epsilon), count, steps)
    below = np.flatnonzero(values <= float(delta) * (1 - 1e-12))
    if not len(below):
        return pure
    last = int(below[0])
    if not last:
        return Fraction(0)
    here, before = values[last], values[last - 1]
    # on the chord from x_{i−1} to x_i, δ is reached at this share of the way
    share = min(1.0, (before - float(delta)) / (before - here) * (1 + 1e-9) + 1e-12) if before > here else 1.0
    with precision(128):
        first, second = (Fraction(float(point)) for point in points[last - 1 : last + 1])
        found = ball(first + (second - first) * Fraction(float(share))).log()
        return min(pure, decimal(max(upper(found), Fraction(0)), _DIGITS, up=True))


def adaptive_curve(epsilon: float, count: int, steps: int) -> tuple[Floats, Floats]:
    """(x, an upper bound on δ_count(x)) at x = e^{ih} for i from −count·steps to count·steps."""
    reach = count * steps
    points = np.exp(epsilon / steps * np.arange(-reach, reach + 1))
    values = np.maximum(1 - points, 0.0)
    error = _ROUNDING * math.exp(epsilon) / math.expm1(epsilon)
    for done in range(1, count + 1):
        values = np.minimum(_next(points, values, epsilon, steps) + error, 1.0)
        values[reach + done * steps :] = 0.0  # no loss exceeds done·ε
        values = np.minimum.accumulate(values)  # δ falls: a smaller value before it holds here too
    return points, values


def _next(points: Floats, values: Floats, epsilon: float, steps: int) -> Floats:
    """One more release. Beyond the grid δ is 0, and below it 1 − x."""
    grown = math.exp(epsilon)
    ratio = epsilon / steps
    count = len(points)
    wide = np.exp(ratio * (np.arange(-steps - 1, count + steps + 1) - count // 2))
    held = np.concatenate([1 - wide[: steps + 1], values, np.zeros(steps + 1)])
    slope = np.diff(held) / np.diff(wide)
    level = held[:-1] - slope * wide[:-1]
    best = np.zeros(count)
    for cell in range(steps):
        low, high = math.exp(ratio * cell), math.exp(ratio * (cell + 1))
        left = slice(steps - cell, steps - cell + count)  # the cell of x e^{−t}, as the place of its lower end
        right = slice(2 * steps - cell, 2 * steps - cell + count)
        a = grown * level[left] - slope[left] * points + slope[right] * points * grown - level[right]
        b, c = level[right] - level[left], points * grown * (slope[left] - slope[right])
        concave = (b < 0) & (c < 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(concave, np.clip(np.sqrt(c / b), low, high), low)
        found = a + b * at + c / at
        best = np.maximum(best, np.where(concave, found, np.maximum(found, a + b * high + c / high)))
    return np.asarray(best / (grown - 1))
