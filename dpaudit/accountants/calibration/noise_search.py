"""What noise is asked for, and the search for the least of it: rounded up, and held against the bound again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.losses.parts import Part
from dpaudit.accountants.numerics.roots import log
from dpaudit.claims.balls import decimal
from dpaudit.noise import MECHANISMS, Noise

DIGITS = 12  # significant ones of a parameter
CLOSE = Fraction(1, 10**10)  # relative width to which the least noise is found

Curve = Callable[[Noise], Fraction]  # δ at the ε asked for, rounded up


@dataclass(frozen=True)
class NoiseTask:
    """What is asked for: ``count`` releases of a query that moves by at most ``steps`` of the grid."""

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    steps: int
    grid: Fraction
    count: int
    counts: tuple[tuple[str, int], ...] = ()  # whole-number parameters that are not chosen
    sampling: Fraction | None = None  # rate of the Poisson sample that each release is computed from

    @property
    def kind(self) -> type[Noise]:
        return MECHANISMS[self.mechanism]

    def noise(self, size: Fraction) -> Noise:
        """Noise of this size: scale, sigma, or 1/ε0 of a response. More is more private."""
        return self.kind.of_size(size if self.kind.stronger > 0 else 1 / size, self.grid, dict(self.counts))

    def part(self, noise: Noise) -> Part:
        """All releases, as what is composed."""
        return Part(noise, self.steps, self.count, sampling=self.sampling)

    def rounded(self, size: Fraction) -> Fraction:
        """Up, until the parameter is a short decimal."""
        return decimal(size, DIGITS, up=True) if self.kind.stronger > 0 else 1 / decimal(1 / size, DIGITS, up=False)


def least(task: NoiseTask, curve: Curve) -> Noise:
    """The least noise whose certified δ(ε) is at most δ, rounded up, and seen to hold at the rounded number."""

    def excess(size: Fraction) -> float:
        """log δ(ε)/δ; its sign is exact."""
        delta = curve(task.noise(size))
        ratio = log(delta) - log(task.delta)
        return min(ratio, 0.0) if delta <= task.delta else max(ratio, 1e-300)

    return least_size(task, excess)


def least_size(task: NoiseTask, excess: Callable[[Fraction], float]) -> Noise:
    """The least noise whose excess is not above 0, rounded up, and seen to hold at the rounded number."""
    reach = Fraction(math.sqrt(2 * task.count * log(2 / task.delta))) / task.epsilon
    reach = min(reach, task.count / task.delta)  # enough at ε = 0: each release moves the law by less than Δ over its scale
    safe = unsafe = task.rounded(task.steps * task.grid * reach)
    while excess(safe) > 0:
        unsafe, safe = safe, 2 * safe
    while excess(unsafe) <= 0:
        safe, unsafe = unsafe, unsafe / 2
    size = _narrowed(excess, unsafe, safe)
    margin = CLOSE
    while excess(task.rounded(size)) > 0:
        size, margin = size * (1 + margin), 4 * margin
    return task.noise(task.rounded(size))


def _narrowed(excess: Callable[[Fraction], float], unsafe: Fraction, safe: Fraction) -> Fraction:
    """The safe end of a bracket of relative width CLOSE: false position after Illinois, bisection where it does not help."""
    above, below = excess(unsafe), excess(safe)
    for step in range(200):
        if safe - unsafe <= CLOSE * safe:
            break
        share = above / (above - below) if math.isfinite(above - below) and step % 4 < 3 else 0.5
        middle = decimal(unsafe + (safe - unsafe) * Fraction(min(max(share, 1e-6), 1 - 1e-6)), DIGITS + 4, up=True)
        found = excess(middle)
        if found > 0:
            unsafe, above, below = middle, found, below / 2
        else:
            safe, below, above = middle, found, above / 2
    return safe
