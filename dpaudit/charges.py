"""What one release costs every record it touches, as the door charges it: (ε, δ), exact and rounded up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath

from dpaudit.claims import InvalidValue
from dpaudit.noise import Noise

LARGEST_EPSILON = 10**6

# Given one report's pure ε, the number of shuffled reports and δ: an ε that provably holds for the shuffled batch.
Amplifier = Callable[[Noise, Fraction, int, Fraction], Fraction]


def _no_amplification(noise: Noise, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """An ε0-LDP report is ε0-DP, shuffled or not: what holds before an accountant is injected."""
    return epsilon0


_amplifier: Amplifier = _no_amplification


def use_amplifier(amplifier: Amplifier) -> None:
    """Let the door charge shuffled batches by this theorem. Called by ``dpaudit.accountants``."""
    global _amplifier
    _amplifier = amplifier


def cost(
    noise: Noise, steps: int, delta: Fraction, *, coordinates: int = 1, shuffled: int | None = None
) -> tuple[Fraction | None, Fraction]:
    """(ε, δ) of one release whose query moves by ``steps`` of the grid (L1, or L2 for Gaussian noise).

    ε is None when no finite ε exists at this δ (Gaussian noise at δ = 0).
    """
    pure = noise.epsilon(steps)
    if pure is None:
        return (gaussian_epsilon(noise, steps, delta, coordinates), delta) if delta else (None, Fraction(0))
    if shuffled is not None and delta:
        amplified = _amplifier(noise, pure, shuffled, delta)
        if amplified < pure:
            return amplified, delta
    return pure, Fraction(0)


def gaussian_epsilon(noise: Noise, steps: int, delta: Fraction, coordinates: int = 1) -> Fraction:
    """The least ε (to 1e-9) at which the certified δ(ε) is at most δ. Raises InvalidValue as ``epsilon_at`` does."""

    def holds(epsilon: Fraction) -> bool:
        if coordinates <= 1:
            return noise.delta(epsilon, steps) <= delta
        return zcdp_delta(rho(noise, steps), epsilon) <= delta

    return epsilon_at(delta, holds)


def epsilon_at(delta: Fraction, holds: Callable[[Fraction], bool]) -> Fraction:
    """The least ε (to 1e-9) that holds at δ, by bisection from above.

    Raises InvalidValue when none up to 10^6 does: a certified δ(ε) is never given as less than some smallest step.
    """
    low, high = Fraction(0), Fraction(1)
    while not holds(high):
        low, high = high, 2 * high
        if high > LARGEST_EPSILON:
            raise InvalidValue("delta", delta, "larger for this noise: no ε up to 10^6 can be certified at it")
    while high - low > max(high, Fraction(1)) / 10**9:
        middle = ((low + high) / 2).limit_denominator(10**12)
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def rho(noise: Noise, steps: int) -> Fraction:
    """Discrete Gaussian noise is Δ²/(2σ²)-zCDP in any number of coordinates (Canonne, Kamath, Steinke 2020, Thm 14)."""
    sigma = Fraction(noise.parameters()["sigma"])
    return (steps * noise.grid) ** 2 / (2 * sigma**2)


def zcdp_delta(rho_: Fraction, epsilon: Fraction) -> Fraction:
    """δ(ε) of ρ-zCDP, rounded up: min over α of e^{(α−1)(αρ−ε)}/(α−1)·(1−1/α)^α (Canonne et al. 2020, Cor. 13)."""
    context = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.mp
    context.dps = 30
    r, e = (
        context.mpf(rho_.numerator) / rho_.denominator,
        context.mpf(epsilon.numerator) / epsilon.denominator,
    )
    if r == 0:
        return Fraction(0)
    best = context.mpf(1)
    centre = max((e + r) / (2 * r), context.mpf("1.0001"))
    orders = [1 + (centre - 1) * context.mpf(k) / 20 for k in range(2, 61)]
    for alpha in [*orders, *(1 + context.mpf(2) ** (k / 2) for k in range(-8, 10))]:  # any α > 1 gives a valid bound
        value = context.exp((alpha - 1) * (alpha * r - e) + alpha * context.log1p(-1 / alpha)) / (alpha - 1)
        best = min(best, value)
    scaled = int(context.ceil(best * context.mpf(10) ** 25 * (1 + context.mpf(10) ** -15)))
    return Fraction(scaled, 10**25)
