"""Exact draws of the number of heads among very many fair coins, without throwing them.

With r(k) = C(2m, m + k)/C(2m, m) = Π (m − j + 1)/(m + j) ≤ e^(−k²/(m + k)) ≤ e^(−k²/2m) for 0 ≤ k ≤ m, blocks of s ≥ √(2m)
numbers have r ≤ e^(−i²) ≤ 2^(−i) in the i-th. So: a sign, a block i with probability 2^(−i−1), a number k in it, kept with
probability r(k)·2^i, decided by certified digits (Bringmann et al. 2014 draw binomials like this). −0 is thrown away.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.noise.sampling.probability_bits import precision
from dpaudit.noise.sampling.source import Source

_FEW = 4096  # so many coins are thrown


def heads(half: int, count: int, source: Source) -> NDArray[np.int64]:
    """``count`` draws of the number of heads among 2·``half`` fair coins, less ``half``; each from exactly that law."""
    if 2 * half <= _FEW:
        return _thrown(half, count, source)
    return np.array([_drawn(half, source) for _ in range(count)], dtype=np.int64)


def _thrown(half: int, count: int, source: Source) -> NDArray[np.int64]:
    bits = 2 * half
    words = source.words(count * -(-bits // 8), 8).reshape(count, -1)
    thrown = np.unpackbits(np.ascontiguousarray(words), axis=1)[:, :bits]
    return thrown.sum(axis=1, dtype=np.int64) - half


def _drawn(half: int, source: Source) -> int:
    size = math.isqrt(2 * half) + 1
    while True:
        negative, block = int(source.words(1)[0]) & 1, _block(source)
        k = block * size + _below(size, source)
        if k > half or (negative and not k):
            continue
        if _is_kept(half, k, block, source):
            return -k if negative else k


def _block(source: Source) -> int:
    """i with probability 2^(−i−1): the zeros before the first 1."""
    zeros = 0
    while (word := int(source.words(1)[0])) == 0:
        zeros += 64
    return zeros + (word & -word).bit_length() - 1


def _below(bound: int, source: Source) -> int:
    """Uniform from 0 to bound − 1: words beyond the last multiple are drawn anew."""
    last = 2**64 // bound * bound
    while (word := int(source.words(1)[0])) >= last:
        pass
    return word % bound


def _is_kept(half: int, k: int, block: int, source: Source) -> bool:
    """True with probability p = r(k)·2^i: a uniform number against an enclosure of p. Where its digits so far do not decide, more
    are drawn, of both; p may be a fraction that no number of its own digits would settle."""
    digits, drawn = 64, int(source.words(1)[0])
    while True:
        with precision(digits + 64):
            logarithm = (
                2 * arb(half + 1).lgamma() - arb(half + k + 1).lgamma() - arb(half - k + 1).lgamma() + block * arb(2).log()
            )
            scaled = logarithm.exp() * arb(2) ** digits
            if scaled > drawn + 1:
                return True
            if scaled < drawn:
                return False
        digits, drawn = digits + 64, drawn << 64 | int(source.words(1)[0])
