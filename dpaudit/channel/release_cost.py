"""What one release costs every record it touches, as the door charges it: (ε, δ), exact and rounded up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from scipy.special import log_ndtr

from dpaudit.claims import InvalidValue
from dpaudit.ledger.spending.zcdp_sums import zcdp_delta, zcdp_epsilon
from dpaudit.noise import Noise

__all__ = [
    "Amplifier", "Composer", "Repetition", "cost", "epsilon_at", "gaussian_epsilon", "no_amplification", "plain_sums", "rho",
    "zcdp_delta",
]  # fmt: skip

LARGEST_EPSILON = 10**6

# Given one report's pure ε, the number of shuffled reports and δ: an ε that provably holds for the shuffled batch.
Amplifier = Callable[[Noise, Fraction, int, Fraction], Fraction]


@dataclass(frozen=True)
class Repetition:
    """``count`` equal releases whose queries move by ``steps`` each; ``sampling``: the rate of the fresh sample behind each."""

    noise: Noise
    steps: int
    count: int
    coordinates: int = 1
    sampling: Fraction | None = None


# (ε, δ) that provably holds for all of them together, at this δ at most; ε is None where no finite one exists.
Composer = Callable[[Repetition, Fraction], tuple[Fraction | None, Fraction]]


def plain_sums(repeated: Repetition, delta: Fraction) -> tuple[Fraction | None, Fraction]:
    """Σε, or Σρ where there is no ε: what a door charges to which no theorem was handed. A sample counts for nothing."""
    pure = repeated.noise.epsilon(repeated.steps)
    if pure is not None:
        return repeated.count * pure, repeated.count * repeated.noise.failure
    summed = repeated.count * rho(repeated.noise, repeated.steps)
    return (zcdp_epsilon(summed, delta), delta) if delta else (None, Fraction(0))


def no_amplification(noise: Noise, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """An ε0-LDP report is ε0-DP, shuffled or not: what a door charges to which no theorem was handed."""
    return epsilon0


def cost(
    noise: Noise,
    steps: int,
    delta: Fraction,
    *,
    coordinates: int = 1,
    shuffled: int | None = None,
    amplify: Amplifier = no_amplification,
) -> tuple[Fraction | None, Fraction]:
    """(ε, δ) of one release whose query moves by ``steps`` of the grid (L1, or L2 for Gaussian noise).

    ``shuffled``: how many reports one of them hides among; ``amplify``: the theorem that says what this is worth.
    ε is None when no finite ε exists at this δ (Gaussian noise at δ = 0).
    """
    pure = noise.epsilon(steps)
    if pure is None:
        return (gaussian_epsilon(noise, steps, delta, coordinates), delta) if delta else (None, Fraction(0))
    if shuffled is not None and delta and not noise.fails:
        amplified = amplify(noise, pure, shuffled, delta)
        if amplified < pure:
            return amplified, delta
    return pure, noise.failure


@lru_cache(maxsize=4096)
def gaussian_epsilon(noise: Noise, steps: int, delta: Fraction, coordinates: int = 1) -> Fraction:
    """The least ε (to 1e-9) at which the certified δ(ε) is at most δ. Raises InvalidValue as ``epsilon_at`` does."""
    if coordinates > 1:
        return zcdp_epsilon(rho(noise, steps), delta)
    guess = _continuous_epsilon(math.sqrt(2 * rho(noise, steps)), float(delta))
    return epsilon_at(delta, lambda epsilon: noise.delta(epsilon, steps) <= delta, guess)


def _continuous_epsilon(mu: float, delta: float) -> float:
    """About the ε at δ of continuous Gaussian noise with Δ/σ = μ (Balle, Wang 2018, Thm 8), or NaN."""
    low, high = -745.0, math.log(LARGEST_EPSILON)  # logarithms of ε
    while high - low > 1e-13 and delta > 0 < mu:
        epsilon = math.exp((low + high) / 2)
        more, less = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        above = less < more and more + math.log(-math.expm1(less - more)) > math.log(delta)
        low, high = ((low + high) / 2, high) if above else (low, (low + high) / 2)
    return math.exp(high) if delta > 0 < mu else math.nan


def epsilon_at(delta: Fraction, holds: Callable[[Fraction], bool], guess: float = math.nan) -> Fraction:
    """The least ε (to 1e-9) that holds at δ, by bisection from above, or around a guess where that encloses it.

    Raises InvalidValue when none up to 10^6 does: a certified δ(ε) is never given as less than some smallest step.
    """
    near = [Fraction(guess + side * max(guess, 1.0) * 4e-10).limit_denominator(10**12) for side in (-1, 1) if guess < 10**5]
    if near and holds(near[1]) and not (near[0] > 0 and holds(near[0])):
        return near[1]
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
    """ρ of zero-concentrated DP: the mechanism's own, else ε²/2 of its pure cost (Bun, Steinke 2016, Prop. 1.4)."""
    own, pure = noise.rho(steps), noise.epsilon(steps)
    if own is None and pure is None:
        raise InvalidValue("noise", noise.name, "a mechanism with a pure cost or a ρ")
    return own if own is not None else (pure or Fraction(0)) ** 2 / 2
