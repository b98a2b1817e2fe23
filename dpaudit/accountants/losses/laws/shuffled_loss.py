"""The loss of a shuffled batch, which has no moment function of its own: a dominating pair built from points of its δ(ε) curve.

A theorem gives (ε_i, δ_i) that hold in both directions. As a function of x = e^ε the true curve h is convex and falls, h(0) =
1, and h(1/x) = 1 − (1 − h(x))/x for the pair with its sides changed. So h lies below the lower convex hull of the points, their
mirror images and (0, 1), and the hull is the curve of a dominating pair (Zhu, Dong, Wang 2022, Prop. 9). Sampled at the points
of a lattice and joined by straight lines it only rises.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import flint

from dpaudit.accountants.losses.laws.privacy_loss import LatticeLoss
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel.release_cost import cost
from dpaudit.claims.balls import ball, lower, precision, upper
from dpaudit.noise import Noise, noise_from

HALF = 64  # lattice points on either side of 0
_PER_DECADE = 3
_BITS = 256
_UNIT = 2**160

Point = tuple[Fraction, Fraction]


def shuffled_loss(noise: Noise, steps: int, n: int, decades: int) -> tuple[LatticeLoss, Fraction]:
    """The loss of n shuffled reports, and P(L = ∞), which is 10^-decades."""
    return _shuffled_loss(noise.name, tuple(noise.parameters().items()), steps, n, decades)


@lru_cache(maxsize=256)
def _shuffled_loss(
    name: str, parameters: tuple[tuple[str, str], ...], steps: int, n: int, decades: int
) -> tuple[LatticeLoss, Fraction]:
    noise = noise_from(name, dict(parameters))
    pure = noise.epsilon(steps) or Fraction(0)

    def epsilon(delta: Fraction) -> Fraction:
        found, _ = cost(noise, steps, delta, shuffled=n, amplify=amplified)
        return pure if found is None else found

    return loss_from_curve(epsilon, decades)


def loss_from_curve(epsilon: Callable[[Fraction], Fraction], decades: int) -> tuple[LatticeLoss, Fraction]:
    """The loss of a mechanism that is (epsilon(δ), δ)-DP for every δ, and the least δ that was asked for."""
    deltas = [
        Fraction(10.0 ** (-k / _PER_DECADE)).limit_denominator(10 ** (decades + 6)) for k in range(1, decades * _PER_DECADE + 1)
    ]
    deltas[-1] = Fraction(1, 10**decades)
    curve = {delta: epsilon(delta) for delta in deltas}
    widest = curve[deltas[-1]]
    gap = Fraction(math.ceil(widest * 2**60 / HALF), 2**60)
    with precision(_BITS):
        corners = hull([(upper(ball(e).exp()), delta) for delta, e in curve.items()])
        levels = [ball(gap * i).exp() for i in range(-HALF, HALF + 1)]
        values = [_at(corners, lower(level)) for level in levels]
        slopes = [(ball(v) - ball(u)) / (y - x) for u, v, x, y in zip(values, values[1:], levels, levels[1:], strict=False)]
        slopes = [(ball(values[0]) - 1) / levels[0], *slopes, flint.arb(0)]
        masses = [upper(x * (b - a)) for x, a, b in zip(levels, slopes, slopes[1:], strict=False)]
    exact = tuple(Fraction(max(0, math.ceil(mass * _UNIT)) + 1, _UNIT) for mass in reversed(masses))
    return LatticeLoss(gap * HALF, gap, exact), deltas[-1]


def hull(points: Sequence[Point]) -> list[Point]:
    """The lower convex hull of (x, h) with x ≥ 1, their mirror images and (0, 1), from left to right."""
    mirrored = [(1 / x, 1 - (1 - h) / x) for x, h in points]
    corners: list[Point] = []
    for x, h in sorted({(Fraction(0), Fraction(1)), *mirrored, *points}):
        while len(corners) >= 2 and _bends_up(corners[-2], corners[-1], (x, h)):
            corners.pop()
        corners.append((x, h))
    return corners


def _bends_up(a: Point, b: Point, c: Point) -> bool:
    """Is b on or above the line from a to c?"""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def _at(corners: Sequence[Point], x: Fraction) -> Fraction:
    """The hull at x; beyond its last corner, the value there."""
    place = bisect_right(corners, x, key=lambda corner: corner[0])
    if place == len(corners):
        return min(h for _, h in corners)
    (a, u), (b, v) = corners[place - 1], corners[place]
    return u + (v - u) * (x - a) / (b - a)
