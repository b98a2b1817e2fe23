"""What equal releases cost together, as doors charge them: a stream's sums, or releases from samples."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import Part
from dpaudit.channel.release_cost import Repetition


@lru_cache(maxsize=1024)
def composed(repeated: Repetition, delta: Fraction) -> tuple[Fraction | None, Fraction]:
    """(ε, δ) of all of them: the sum of pure costs where there is one, at δ = 0, else the certified composition at δ.

    Their noise and rate are equal, so what is composed was fixed when the first was asked for.
    """
    part = Part(repeated.noise, repeated.steps, repeated.count, repeated.coordinates, sampling=repeated.sampling)
    pure = part.pure()
    if pure is not None:
        return pure, Fraction(0)
    return (compose([part], delta).upper, delta) if delta else (None, Fraction(0))
