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

from dpaudit.claims import InvalidValue, Number, positive, whole


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
