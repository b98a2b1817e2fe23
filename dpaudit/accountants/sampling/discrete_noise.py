"""From noise on a grid to the continuous noise that the sampled accountant knows, and neighbour relations to those pairs.

Sum plus discrete Gaussian noise of deviation s (in units of the grid) is, but for probability at most 2dη in d coordinates,
η = 2Σ_m e^{−2π²vm²}, a post-processing of sum plus N(0, s² − v), whatever the batch is: so also for the mixture over
batches. The other way round, N(0, v) added to it gives N(0, s² + v), as closely. e^{−2π²} < 2^-28, so all releases miss at
most 5·d·count·2^{−28v}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.sampling.accountant import sampled_epsilon
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, positive, whole
from dpaudit.claims.balls import ball, precision, upper

REPLACE_ONE = (
    "replace-one under Poisson sampling is charged as a group of two add/remove steps, (2ε, (1 + e^ε)δ): that opposite moves are "
    "the worst pair is not proven here"
)
FIXED_SIZE = (
    "samples of a fixed size are not Poisson samples: their amplification under replace-one is another theorem, and the "
    "Poisson price would be too low"
)


@dataclass(frozen=True)
class Continuous:
    """σ² of the continuous noise relative to the sensitivity, squared, and the probability that the comparison misses."""

    variance: Fraction
    missed: Fraction


def continuous_noise(spread: Number, moved: Number, count: int, delta: Fraction, dimension: int = 1, *, up: bool) -> Continuous:
    """Discrete noise of deviation ``spread`` grid units on a sum that moves by ``moved`` units, compared at δ.

    ``up``: noise that reveals at least as much; else at most as much. Raises ``InvalidValue`` for noise too coarse to compare.
    """
    s, step = positive(spread, "sigma"), positive(moved, "sensitivity")
    size = 5 * whole(dimension, "coordinates") * whole(count, "count")
    v = math.ceil((math.log2(delta.denominator) - math.log2(delta.numerator) + 40 + size.bit_length()) / 28)
    if s * s <= 4 * v:
        raise InvalidValue("sigma", s, "several steps of its grid, for releases from samples")
    return Continuous((s * s + (-v if up else v)) / step**2, size * Fraction(1, 2 ** (28 * v)))


def root_down(value: Fraction) -> Fraction:
    """√value rounded down to 60 bits."""
    scaled = value * 4**60
    return Fraction(math.isqrt(scaled.numerator // scaled.denominator), 2**60)


def discrete_epsilon(groups: list[tuple[Fraction, Fraction, Fraction, int]], delta: Number) -> Enclosure:
    """ε of discrete Gaussian releases (rate, spread and move in grid units, count) from Poisson samples, add/remove."""
    failure = exact_delta(delta)
    ends = []
    for up in (True, False):
        found, missed = [], Fraction(0)
        for rate, spread, moved, count in groups:
            noise = continuous_noise(spread, moved, count, failure, up=up)
            sigma = root_down(noise.variance)
            found.append(SampledGaussian(rate, sigma if up else sigma + Fraction(1, 2**60), count))
            missed += noise.missed
        ends.append(sampled_epsilon(found, failure - missed if up else failure + missed))
    above, below = ends
    return Enclosure(min(below.lower, above.upper), above.upper, True, above.method)


def group_of_two(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(2ε, (1 + e^ε)δ), rounded up: two steps of add/remove make one replacement (Dwork & Roth 2014, Thm 2.2, with δ)."""
    with precision(64):
        grown = upper(ball(epsilon).exp())
    return 2 * epsilon, min(Fraction(1), (1 + grown) * delta)


def replace_one_epsilon(groups: list[SampledGaussian], delta: Number) -> Enclosure:
    """An upper bound on ε at δ under replace-one, as ``REPLACE_ONE`` says; the lower end is that of add/remove.

    (1 + e^{ε'})δ' ≤ δ is met by iterating δ' = δ/(1 + e^{ε'(δ')}) from above, where ε' only grows as δ' falls.
    """
    failure = exact_delta(delta)
    single = sampled_epsilon(groups, failure)
    share = failure / 2
    for _ in range(60):
        half = sampled_epsilon(groups, share).upper
        doubled, spent = group_of_two(half, share)
        if spent <= failure:
            return Enclosure(single.lower, doubled, True, REPLACE_ONE)
        share *= failure / spent * Fraction(99, 100)
    raise ArithmeticError("no share of δ was found")


def refuse_fixed_size() -> None:
    """Always raises, with the reason."""
    raise InvalidValue("sampling", "fixed size", "Poisson: " + FIXED_SIZE)
