"""Exact Bernoulli draws: random words against certified binary digits of the probability.

A uniform U in [0, 1) is read word by word. U < p is decided by the first word that differs from the digits
of p; on a tie the next word and the next digits are taken. No floating-point number is involved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpaudit.noise.sampling.probability_bits import Ball, ball, precision
from dpaudit.noise.sampling.source import Source

_WORD = 64


@dataclass(frozen=True, eq=False)
class Probability:
    """A number in [0, 1], given by a ball around it that shrinks as the precision grows."""

    enclosure: Callable[[], Ball]

    def prefix(self, bits: int) -> int:
        """floor(p · 2^bits), certified."""
        working = bits + 64
        while True:
            with precision(working):
                floor = (self.enclosure() * ball(1 << bits)).floor().unique_fmpz()
            if floor is not None:
                return int(floor)
            working *= 2


_prefix = lru_cache(maxsize=4096)(Probability.prefix)


def bernoulli(probability: Probability, source: Source) -> bool:
    """True with exactly this probability."""
    word = int(source.words(1)[0])
    return decide(probability, word, _WORD, source)


def bernoulli_words(probability: Probability, count: int, source: Source) -> NDArray[np.bool_]:
    """``count`` independent draws, each True with exactly this probability."""
    threshold = _prefix(probability, _WORD)
    words = source.words(count)
    drawn = words < threshold
    for index in np.flatnonzero(words == threshold):
        drawn[index] = decide(probability, int(words[index]), _WORD, source)
    return np.asarray(drawn)


def decide(probability: Probability, word: int, bits: int, source: Source) -> bool:
    """U < p for a uniform U whose first ``bits`` binary digits are ``word``; draws more digits on a tie."""
    drawn, digits = word, _prefix(probability, bits)
    while drawn == digits:
        bits += _WORD
        drawn = drawn << _WORD | int(source.words(1)[0])
        digits = probability.prefix(bits)
    return drawn < digits


@lru_cache(maxsize=4096)
def logistic(x: Fraction) -> Probability:
    """1/(1 + e^x)."""
    return Probability(lambda: 1 / (1 + ball(x).exp()))


@lru_cache(maxsize=4096)
def decay(x: Fraction) -> Probability:
    """e^-x for x ≥ 0."""
    return Probability(lambda: (-ball(x)).exp())


def _any(x: Fraction, count: int) -> Ball:
    # 1 − (1 − e^-x)^count without cancellation
    return -(count * (-((-ball(x)).exp())).log1p()).expm1()


@lru_cache(maxsize=4096)
def any_of(x: Fraction, count: int) -> Probability:
    """That at least one of ``count`` events of probability e^-x happens."""
    return Probability(lambda: _any(x, count))


@lru_cache(maxsize=4096)
def any_of_part(x: Fraction, part: int, count: int) -> Probability:
    """That one of the first ``part`` happens, given that at least one of all ``count`` does."""
    return Probability(lambda: _any(x, part) / _any(x, count))
