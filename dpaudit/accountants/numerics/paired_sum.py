"""E[(ΣG)_+] where G has two values of equal weight and one other: exact, and 33 times as fast as the contour.

Measured by ``python -m benchmarks engines``: .2 ms in the median of 291 questions; the contour takes 8 ms and is 3e-5 wide.

The sum runs over the number of reports that have one of the two values, up to ``EXACT_LIMIT`` of them; beyond, the contour is
quicker.
"""

from __future__ import annotations

import math
from typing import Any

import flint

from dpaudit.accountants.numerics.array_contour import AtomicLaw
from dpaudit.accountants.numerics.contour import saddle

EXACT_LIMIT = 2e4  # expected number of reports that are not the idle value, up to which the sum is taken term by term
_EFFORT = 45.0  # terms below e^-45 of the whole are bounded, not added


class PairedLaw:
    """G is ``plus`` or ``minus`` with probability ``weight`` each, else ``idle``."""

    def __init__(self, law: AtomicLaw) -> None:
        (self.weight, self.plus), (_, self.minus), *rest = law.atoms
        self.n, self.active = law.n, 2 * self.weight
        self.idle: Any = rest[0][1] if rest else flint.arb(0)
        self.gap = self.plus - self.minus
        # S > 0 iff more than slope·m + offset of the m that are not idle are "plus"
        self.slope, self.offset = (self.idle - self.minus) / self.gap, -self.n * self.idle / self.gap


def is_long(law: AtomicLaw) -> bool:
    """Would the sum have so many terms that the contour is the better way?"""
    return law.n * float((2 * law.atoms[0][0]).upper()) > EXACT_LIMIT


def exact_sum(law: AtomicLaw, effort: float = _EFFORT) -> tuple[Any, Any]:
    """(lower, upper): enclosures of E[(ΣG)_+]/n at the precision of the caller; the first two atoms of the law weigh the same.

    The sum over the number m of reports that are not idle is taken in a window; what is outside is bounded and added on top.
    """
    n, bits, pair = law.n, flint.ctx.prec, PairedLaw(law)
    c = saddle(law.floats).c
    peak = law.moment(flint.acb(c)).real
    always = bool(pair.active == 1)
    tilted = 1 - (1 - pair.active) * (c * pair.idle).exp() / peak  # the chance of not being idle under the weight e^{cG}
    peak = peak**n
    first, last = (n, n) if always else _window(n, float(tilted), effort)
    positive = _first_positive(pair)
    left_out, first = (first if first > positive else 1), max(first, positive)
    # thresholds are in fixed point: a wrong one needs |S| ≤ slack, and P(|S| ≤ slack) ≤ φ(c)^n e^{c·slack}
    slack = pair.gap * ((n + 2) * flint.arb(2) ** (1 - bits) + n * flint.arb(pair.slope.rad()) + flint.arb(pair.offset.rad()))
    slack = slack * peak * (c * slack).exp()
    # E[S_+; M = m] ≤ E[e^{cS}; M = m]/(ec) = φ(c)^n/(ec) · P(M = m) under the tilted law
    outside = flint.arb(0) if always else peak / (flint.arb(1).exp() * c) * _outside(n, tilted, left_out, last) / n
    if first > last:
        return flint.arb(0), outside + slack
    total = _windowed(pair, first, last, bits) / n
    return total - slack, total + slack + outside


def _windowed(pair: PairedLaw, first: int, last: int, bits: int) -> Any:
    """E[S_+; first ≤ M ≤ last]: the chance of M = m, and of how many of them are "plus", by recurrences in m."""
    n, odds = pair.n, flint.arb(0) if first == pair.n else pair.active / (1 - pair.active)
    slope, offset = (int((x * flint.arb(2) ** bits).mid().floor().unique_fmpz()) for x in (pair.slope, pair.offset))
    chance = _binomial(n, first, pair.active)
    m, b = first, ((slope * first + offset) >> bits) + 1
    mass = _half_binomial(m - 1, b - 1)
    tail = _half_tail(m - 1, b - 1, mass)
    total = flint.arb(0)
    while True:
        total += chance * (pair.gap * m * tail / 2 + (m * pair.minus + (n - m) * pair.idle) * (tail - mass / 2))
        if m == last:
            return total
        if ((slope * (m + 1) + offset) >> bits) + 1 > b:
            tail, mass, b = tail - mass / 2, mass * m / (2 * b), b + 1
        else:
            tail, mass = tail + mass * (b - 1) / (2 * (m - b + 1)), mass * m / (2 * (m - b + 1))
        chance = chance * odds * (n - m) / (m + 1)
        m += 1


def _window(n: int, active: float, effort: float) -> tuple[int, int]:
    """Values of m that carry all but about e^-effort of a binomial law."""
    mean = n * active
    half = math.sqrt(2 * mean * (1 - active) * effort) + effort
    return max(1, math.floor(mean - half)), max(1, min(n, math.ceil(mean + half)))


def _first_positive(pair: PairedLaw) -> int:
    """The least m for which m times "plus" outweighs the idle rest; below it S_+ is 0."""
    least = pair.n * -pair.idle / (pair.plus - pair.idle)
    return max(1, int(least.upper().floor().unique_fmpz()) + 1)


def _outside(n: int, chance: Any, first: int, last: int) -> Any:
    """An upper bound on P(1 ≤ M < first) + P(M > last) for binomial M, by geometric series."""
    total, odds = flint.arb(0), chance / (1 - chance)
    if first > 1:
        ratio = first / (odds * (n - first + 1))
        total += _binomial(n, first, chance) * ratio / (1 - ratio) if ratio < 1 else 1
    if last < n:
        ratio = odds * (n - last) / flint.arb(last + 1)
        total += _binomial(n, last, chance) * ratio / (1 - ratio) if ratio < 1 else 1
    return total


def _binomial(n: int, m: int, probability: Any) -> Any:
    choose = (flint.arb(n + 1).lgamma() - flint.arb(m + 1).lgamma() - flint.arb(n - m + 1).lgamma()).exp()
    return choose * probability**m * (1 - probability) ** (n - m)


def _half_binomial(m: int, k: int) -> Any:
    """P(Bin(m, 1/2) = k)."""
    return _binomial(m, k, flint.arb(1) / 2) if 0 <= k <= m else flint.arb(0)


def _half_tail(m: int, k: int, mass: Any) -> Any:
    """P(Bin(m, 1/2) ≥ k) for k above about m/2, by summing until the geometric rest is negligible."""
    total, rest, negligible = flint.arb(0), flint.arb(0), flint.arb(2) ** -flint.ctx.prec
    for j in range(k, m + 1):
        total += mass
        mass = mass * (m - j) / (j + 1)
        ratio = flint.arb(m - j - 1) / (j + 2)
        if j > m // 2 and mass < total * negligible:
            rest = mass / (1 - ratio)
            break
    return total + flint.arb(0, rest.abs_upper())
