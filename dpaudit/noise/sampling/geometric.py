"""The exact two-sided geometric law, P(k) ∝ e^(−a|k|), drawn many at a time.

K = G − G' for two geometric variables with P(G ≥ g) = e^(−a g). The binary digits of G are independent, digit
j being Bernoulli(1/(1 + e^(a 2^j))), because Σ_g e^(−ag) = Π_j (1 + e^(−a 2^j)). So each draw takes the same
number of words whatever it yields. G ≥ 2^J is so rare that one Bernoulli says for a whole block that none is.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpaudit.noise.sampling.bernoulli import Probability, any_of, any_of_part, bernoulli, decay, decide, logistic
from dpaudit.noise.sampling.source import Source

_WORD = 32  # a digit's word ties about once in 10^8 draws
_LONG_WORD = 2 * _WORD
_RARE = 40  # G ≥ 2^J has probability e^-40 or less
_BLOCK = 4096  # draws at a time: the words of a block fit in the cache
_EXACT = 32  # digits summed in one float64 product, far from its 53 bits
_LIMIT = 2**63 - 1


@dataclass(frozen=True)
class _Digits:
    """What one rate needs: a probability and a threshold word per digit, and the rate of what is above."""

    probabilities: tuple[Probability, ...]
    thresholds: NDArray[np.uint32]  # (2J, 1): the digits of G, then those of G'
    weights: NDArray[np.float64]  # (2, 2J): low and high digits, signed
    above: Fraction  # a 2^J
    column: NDArray[np.uint32]  # (2J,): the thresholds for one draw
    places: NDArray[np.int64]  # (2J,): what each digit counts, signed
    rare: int  # the first 64 binary digits of the probability that one draw has any digit from J on


@lru_cache(maxsize=256)
def _digits(rate: Fraction) -> _Digits:
    count = 0
    while rate * 2**count < _RARE:
        count += 1
    probabilities = tuple(logistic(rate * 2**j) for j in range(count))
    words = np.array([p.prefix(_WORD) for p in probabilities] * 2, dtype=np.uint32)
    low = np.array([2.0**j if j < _EXACT else 0.0 for j in range(count)])
    high = np.array([2.0 ** (j - _EXACT) if j >= _EXACT else 0.0 for j in range(count)])
    weights = np.stack([np.concatenate([low, -low]), np.concatenate([high, -high])])
    places = np.array([2**j for j in range(count)] + [-(2**j) for j in range(count)], dtype=np.int64)
    rare = any_of(rate * 2**count, 2).prefix(_LONG_WORD)
    return _Digits(probabilities, words[:, None], weights, rate * 2**count, words, places, rare)


def add_two_sided(units: NDArray[np.int64], rate: Fraction, source: Source) -> NDArray[np.int64]:
    """``units`` (one axis, at most 2^62 in size) plus independent K with P(k) ∝ e^(−rate |k|), exactly.

    The sum is clipped to ±(2^63 − 1), which is post-processing.
    """
    digits = _digits(rate)
    if len(units) == 1:
        return np.array([_add_one(int(units[0]), digits, source)], dtype=np.int64)
    noisy = np.empty_like(units)
    for start in range(0, len(units), _BLOCK):
        block = units[start : start + _BLOCK]
        noisy[start : start + _BLOCK] = block + _below(digits, len(block), source)
        for index, excess in _above(digits, len(block), source).items():
            noisy[start + index] = min(max(int(noisy[start + index]) + excess, -_LIMIT), _LIMIT)
    return noisy


def _add_one(unit: int, digits: _Digits, source: Source) -> int:
    """The same for one number, in a fraction of the calls."""
    below = source.words(len(digits.column), _WORD)
    bits = below < digits.column
    ties = below == digits.column
    if np.count_nonzero(ties):
        for place in np.flatnonzero(ties):
            probability = digits.probabilities[place % len(digits.probabilities)]
            bits[place] = decide(probability, int(below[place]), _WORD, source)
    noisy = unit + int(digits.places.dot(bits))
    last = int(source.words(1, _LONG_WORD)[0])
    if last <= digits.rare and decide(any_of(digits.above, 2), last, _LONG_WORD, source):
        noisy += _excess(digits, 1, _hits(digits.above, 0, 2, source, certain=True), source)[0]
    return min(max(noisy, -_LIMIT), _LIMIT)


def _below(digits: _Digits, count: int, source: Source) -> NDArray[np.int64]:
    """G mod 2^J − G' mod 2^J."""
    words = source.words(len(digits.thresholds) * count, _WORD).reshape(-1, count)
    bits = words < digits.thresholds
    ties = words == digits.thresholds
    if ties.any():
        for row, column in np.argwhere(ties):
            probability = digits.probabilities[row % len(digits.probabilities)]
            bits[row, column] = decide(probability, int(words[row, column]), _WORD, source)
    low, high = (digits.weights @ bits.astype(np.float64)).astype(np.int64)
    return np.asarray(low + (high << _EXACT))


def _above(digits: _Digits, count: int, source: Source) -> dict[int, int]:
    """What the digits from J on add, where that is not 0. Given G ≥ 2^J, G // 2^J − 1 is geometric again."""
    return _excess(digits, count, _hits(digits.above, 0, 2 * count, source), source)


def _excess(digits: _Digits, count: int, hits: list[int], source: Source) -> dict[int, int]:
    """By the draw that each of the hits belongs to."""
    excess: dict[int, int] = defaultdict(int)
    unit = 2 ** len(digits.probabilities)
    for hit in hits:
        multiple = 1
        while bernoulli(decay(digits.above), source):
            multiple += 1
        excess[hit % count] += unit * multiple * (1 if hit < count else -1)
    return excess


def _hits(above: Fraction, start: int, stop: int, source: Source, certain: bool = False) -> list[int]:
    """Which of the variables start..stop−1 reach 2^J: independently, each with probability e^-above.

    ``certain``: given that at least one does. By bisection: the left half, then the right given the left.
    """
    size = stop - start
    if not certain and not bernoulli(any_of(above, size), source):
        return []
    if size == 1:
        return [start]
    middle = start + size // 2
    if bernoulli(any_of_part(above, size // 2, size), source):
        return _hits(above, start, middle, source, certain=True) + _hits(above, middle, stop, source)
    return _hits(above, middle, stop, source, certain=True)
