"""What a shuffled batch costs, as doors charge it and accountants read it: the best theorem for the noise of its reports."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.shuffle.amplification import amplify
from dpaudit.accountants.shuffle.closed_form import LARGEST_EPSILON, LARGEST_N
from dpaudit.noise import Noise


def amplified(noise: Noise, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """ε of n shuffled reports, at most ε0: of Laplace reports by their privacy blanket, which is never worse than the clones;
    else by the exact clone bound for any ε0-LDP randomiser.

    ε0 is what separates any two values that clients may hold; the blanket reads it as the width of one interval that holds them
    all, in units of the scale, and rests on reports that do not depend on each other. Both hold for a batch that passes the door.
    """
    if not epsilon0 or epsilon0 > LARGEST_EPSILON or n > LARGEST_N:
        return epsilon0
    if noise.rate is not None:
        return min(epsilon0, _amplified(epsilon0, n, delta, "laplace", int(epsilon0 / noise.rate)))
    return min(epsilon0, _amplified(epsilon0, n, delta, "clone", 1))


@lru_cache(maxsize=4096)
def _amplified(epsilon0: Fraction, n: int, delta: Fraction, method: str, steps: int) -> Fraction:
    return amplify(epsilon0, n, delta, method=method, steps=steps, attack=False).upper
