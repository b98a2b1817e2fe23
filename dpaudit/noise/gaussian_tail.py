"""Certified tails of the discrete Gaussian, P(K ≥ k) with P(k) ∝ f(k) = e^(−k²/(2s²)), as arb balls."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from dpaudit.claims import InvalidValue
from dpaudit.noise.sampling.probability_bits import Ball, ball, ends, precision

_SUMMED = 256  # up to this s the tail is summed term by term


def tail_ball(s: Fraction, k: int) -> Ball:
    """A ball around P(K ≥ k), at the current precision.

    Up to s = 256 it is as narrow as the precision (at most 400 bits); above, its relative width is about
    10^-2 (1 + |k|/s)^4/s^4, or 10^-25 on the default grid.
    """
    if k <= 0:
        return 1 - tail_ball(s, 1 - k)
    above = _summed(s, k) if s <= _SUMMED else _integrated(s, k)
    return above / normaliser(s)


def _term(s: Fraction, k: int) -> Ball:
    return ball(-(k * k) / (2 * s * s)).exp()


def _remainder(bound: Ball) -> Ball:
    return arb(0).union(bound)


def normaliser(s: Fraction) -> Ball:
    """Σ_k f(k), by Poisson summation from s = 1/2 on: s √(2π) Σ_m e^(−2π² s² m²)."""
    if s >= Fraction(1, 2):
        return ball(s) * (2 * arb.pi()).sqrt() * _theta(2 * (arb.pi() * ball(s)) ** 2)
    return _theta(ball(1 / (2 * s * s)))


def _theta(x: Ball) -> Ball:
    """1 + 2 Σ_{m≥1} e^(−x m²) for x ≥ 2; what is left after m terms is below 2 e^(−x m²)."""
    total, m = arb(1), 1
    while True:
        term = 2 * (-x * m * m).exp()
        if term < arb(2) ** -2000 or m > 64:
            return total + _remainder(term * 2)
        total, m = total + term, m + 1


def _summed(s: Fraction, k: int) -> Ball:
    """Σ_{x≥k} f(x) for k ≥ 1, term by term. From x on, the ratio of terms is below f(x+1)/f(x)."""
    total, x, term = arb(0), k, _term(s, k)
    negligible = term * arb(2) ** -400
    while not term < negligible:
        total, x = total + term, x + 1
        term = _term(s, x)
    return total + _remainder(term / (1 - _term(s, x + 1) / term))


def _integrated(s: Fraction, k: int) -> Ball:
    """Σ_{x≥k} f(x) for k ≥ 1 by Euler–Maclaurin to fourth order.

    Σ = ∫_k^∞ f + f(k)/2 − f'(k)/12 + f'''(k)/720 + R, |R| ≤ 2ζ(4)/(2π)^4 ∫_k^∞ |f''''| = ∫_k^∞ |f''''|/720
    (Graham, Knuth, Patashnik, Concrete Mathematics, 9.5). With y = x/s, f'''' = s^-4 (y⁴ − 6y² + 3) f.
    """
    y, f = ball(k / s), _term(s, k)
    integral = ball(s) * (arb.pi() / 2).sqrt() * (y / arb(2).sqrt()).erfc()
    first, third = -y * f / ball(s), -(y**3 - 3 * y) * f / ball(s) ** 3
    # From y = 12/5 on f'''' > 0, so ∫_k^∞ f'''' = −f'''(k). Over all x, by Cauchy–Schwarz,
    # ∫|f''''| ≤ √(2π 4!) s^-3.
    variation = -third if k * 5 > 12 * s else (48 * arb.pi()).sqrt() / ball(s) ** 3
    rest = (variation / 720).upper()
    return integral + f / 2 - first / 12 + third / 720 + arb(0).union(rest).union(-rest)


def summed_tail(s: Fraction, count: int, k: int) -> tuple[Fraction, Fraction]:
    """Certified bounds on P(K_1 + … + K_count ≥ k) for independent discrete Gaussians of the same s ≥ 10.

    With b ≥ s, Σ_x e^(−x²/2s²) e^(−(k−x)²/2b²) = e^(−k²/2(s²+b²)) Σ_x e^(−(x−μ)²/2c²), c² = s²b²/(s²+b²) ≥ s²/2. By Poisson
    summation the last sum is c √(2π) (1 ± 2θ) for every μ, θ = Σ_{m≥1} e^(−2π²c²m²) < 1.01 e^(−π²s²). So each number added
    gives the discrete Gaussian of variance s² + b² up to factors (1 ± 2θ)/(1 ∓ 2θ): all of them 1 ± count · 10^-400, as
    e^(−100π²) < 10^-428 (compare Kairouz, Liu, Steinke 2021). P(K ≥ k) grows with its s for k ≥ 1, because the ratio of two such
    laws grows with |k|, and falls for k ≤ 0; so at s √count it lies between its values at a fraction below and one above.
    """
    if s < 10:
        raise InvalidValue("s", s, "at least 10: below, a sum of discrete Gaussians is no discrete Gaussian")
    scaled = s * s * count * 4**200
    low = Fraction(math.isqrt(int(scaled)), 2**200)
    with precision(400):
        tails = [ends(tail_ball(side, k)) for side in (low, low + Fraction(1, 2**199))]
    slack = Fraction(count, 10**400)
    return min(lower for lower, _ in tails) * (1 - slack), min(Fraction(1), max(upper for _, upper in tails) * (1 + slack))
