"""Gaussian noise from which on every larger one keeps (ε, δ) too.

On a coarse grid δ(ε) is not monotone in σ: the best event is a half-line of whole steps, and jumps from one to the next. At ε =
16, δ = 10^-5, a move of 2 steps, σ = 0.6124 keeps δ and 0.65 … 0.703 do not. What falls in σ surely is what bounds δ from above:

- Σρ, which holds on every grid (Canonne, Kamath, Steinke 2020, Thm 14);
- N(0, s² − v), of which the discrete noise is a post-processing but for probability 5·2^{−28v} each: more of it is less private.

Below the least σ of these, down to where it fails, one release is enclosed for whole intervals of σ: P_s(k) ∝ e^{−k²/2s²} has a
monotone likelihood ratio in |k|, so |K| grows stochastically with s, and P(K ≤ m) − e^ε P(K ≤ m − move) is at most the difference
of its ends. Laplace noise and responses need none of this: more noise is a post-processing of less, on every grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint

from dpaudit.accountants.numerics.roots import log
from dpaudit.claims.balls import Ball, ball, decimal, precision, upper
from dpaudit.ledger.spending.moment_sums import curve
from dpaudit.ledger.spending.zcdp_sums import zcdp_delta

SAME = Fraction(1, 10**9)  # relative: bounds this close are not improved
_COARSE = 64  # steps of the grid: up to this deviation intervals of σ are enclosed
_WIDEST, _NARROWEST = Fraction(1, 20), Fraction(1, 10**10)  # relative width of an interval
_MOST = 4000  # intervals
_BITS = 192
_DIGITS = 16


@dataclass(frozen=True)
class GaussianTask:
    """``count`` releases of a query that moves by ``steps`` of the grid; all deviations are in steps."""

    epsilon: Fraction
    delta: Fraction
    steps: int
    count: int

    def holds_from(self, spread: Fraction) -> bool:
        """Is δ kept by this deviation and by every larger one, by a bound that falls?"""
        if zcdp_delta(self.count * Fraction(self.steps) ** 2 / (2 * spread**2), self.epsilon) <= self.delta:
            return True
        v = math.ceil((log(1 / self.delta) / math.log(2) + 40 + (5 * self.count).bit_length()) / 28)
        if spread**2 <= 4 * v:
            return False
        squared = self.count * Fraction(self.steps) ** 2 / (spread**2 - v)
        with precision(_BITS):
            return bool(curve(squared, self.epsilon) + ball(5 * self.count * Fraction(1, 2 ** (28 * v))) <= ball(self.delta))


def safe_size(task: GaussianTask, spread: Fraction) -> Fraction:
    """The least deviation known, from ``spread`` on, from which on every larger one keeps δ. ``spread`` keeps δ itself."""
    high = _least(task.holds_from, spread)
    if high <= spread * (1 + SAME) or task.count > 1 or high > _COARSE:
        return max(high, spread)
    return _descend(task, spread, high)


def _least(holds: Callable[[Fraction], bool], start: Fraction) -> Fraction:
    """The least size from ``start`` on at which a falling bound holds, to SAME/8."""
    if holds(start):
        return start
    low, high = start, start * (1 + SAME)
    while not holds(high):
        low, high = high, high + 2 * (high - start)
    while high - low > high * SAME / 8:
        middle = decimal((low + high) / 2, _DIGITS, up=True)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _descend(task: GaussianTask, spread: Fraction, high: Fraction) -> Fraction:
    """From ``high`` down, interval by interval, while each is enclosed below δ."""
    width = _WIDEST
    for _ in range(_MOST):
        if high <= spread:
            return spread
        low = max(spread, decimal(high * (1 - width), _DIGITS, up=True))
        if low < high and interval_delta(task, low, high) <= task.delta:
            high, width = low, min(2 * width, _WIDEST)
        elif width <= _NARROWEST:
            break
        else:
            width /= 2
    return high


def interval_delta(task: GaussianTask, low: Fraction, high: Fraction) -> Fraction:
    """An upper bound on δ(ε) of one release with any deviation in [low, high]."""
    reach = math.ceil(float(high) * math.sqrt(2 * (log(1 / task.delta) + 10 + float(task.epsilon)))) + task.steps + 2
    with precision(_BITS):
        few, many = _tails(low, reach), _tails(high, reach)  # of the smaller and the larger deviation
        growth, worst = ball(task.epsilon).exp(), ball(task.delta / 2)
        first = next(j for j in range(reach) if many[j] <= worst or j == reach - 1)  # rarer half-lines cannot be worse
        for m in range(-first, (task.steps if growth >= 2 else reach - 1)):  # beyond, e^ε P(K ≤ m − move) is at least 1
            most = many[-m] if m < 0 else 1 - few[m + 1]
            other = m - task.steps
            least = flint.arb(0) if other <= -reach else few[-other] if other < 0 else 1 - many[other + 1]
            worst = worst.max(most - growth * least)
        last = 1 - growth * (1 - many[reach - task.steps - 1])
        return max(upper(worst), upper(last), Fraction(0))


@lru_cache(maxsize=8)
def _tails(s: Fraction, reach: int) -> list[Ball]:
    """P(K ≥ j) for j = 0 … reach − 1, at the precision that ``interval_delta`` works with."""
    end = reach + math.ceil(float(s) * 4) + 2
    base = ball(-1 / (2 * s * s)).exp()  # e^{−k²/2s²} = base^{k²}, each from the one before
    weights, step, square = [ball(1)], base, base * base
    for _ in range(1, end):
        weights.append(weights[-1] * step)
        step *= square
    rest = weights[-1] * step / (1 - step)  # the terms from ``end`` on fall faster than a geometric series
    sums = [rest.union(flint.arb(0))]
    for weight in reversed(weights):
        sums.append(sums[-1] + weight)
    sums.reverse()  # sums[j] = Σ_{k≥j}
    whole = 2 * sums[1] + weights[0]
    return [each / whole for each in sums[:reach]]
