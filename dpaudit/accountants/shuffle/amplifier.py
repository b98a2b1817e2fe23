"""What a shuffled batch costs, as doors charge it and accountants read it: the best theorem for the noise of its reports."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.shuffle.amplification import amplify
from dpaudit.accountants.shuffle.closed_form import LARGEST_EPSILON, LARGEST_N
from dpaudit.noise import Noise

KARY = "krr"  # the method that asks for the number of categories


def amplified(noise: Noise, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """ε of n shuffled reports, at most ε0, by the best theorem that applies."""
    return best_theorem(noise, epsilon0, n, delta)[0]


def best_theorem(noise: Noise, epsilon0: Fraction, n: int, delta: Fraction) -> tuple[Fraction, str]:
    """ε of n shuffled reports, at most ε0, and the method of ``amplify`` that gives it; "none" where nothing is gained.

    All reports of a batch get the same noise, drawn independently of each other, so ``same`` holds whatever the mechanism is.
    The blankets of one mechanism are never worse; the enclosure that is smallest is used. ε0 is what separates any two values
    that clients may hold, and n counts those whom an observer cannot tell apart by a label. Laplace noise needs one interval that
    holds all values. A door sees to all of this.
    """
    if not epsilon0 or epsilon0 > LARGEST_EPSILON or n > LARGEST_N:
        return epsilon0, "none"
    if noise.rate is not None:
        epsilon, method = _amplified(epsilon0, n, delta, noise.blanket, int(epsilon0 / noise.rate), None)
    elif epsilon0 == noise.epsilon(1):  # one answer differs
        epsilon, method = _amplified(epsilon0, n, delta, noise.blanket, 1, noise.alphabet if noise.blanket == KARY else None)
    else:
        epsilon, method = _amplified(epsilon0, n, delta, "same", 1, None)
    return (epsilon, method) if epsilon < epsilon0 else (epsilon0, "none")


@lru_cache(maxsize=4096)
def _amplified(epsilon0: Fraction, n: int, delta: Fraction, method: str, steps: int, k: int | None) -> tuple[Fraction, str]:
    found = amplify(epsilon0, n, delta, method=method, k=k, steps=steps, attack=False)
    return found.upper, found.method
