"""δ(ε) of binomial noise, enclosed: the noise of 2m fair coins against the same noise moved by some steps.

With f(k) = C(2m, m + k)/4^m, the ratio f(k)/f(k + s) grows with k: f is log-concave. So the best event is a half-line, and
δ(ε) = P(K ≥ t) − e^ε P(K ≥ t + s), t the first k at which the ratio exceeds e^ε. Both directions are the same, as f is even.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpaudit.noise.sampling.probability_bits import Ball, ball, ends, precision

_BITS = 256
_MOST_BITS = 2**14
_MOST_EPSILON = Fraction(10**6)
_CLOSE = Fraction(1, 10**6)  # how far, relatively, ε may lie above the least one


def mass_ball(half: int, k: int) -> Ball:
    """f(k), |k| ≤ m."""
    return _log_mass(half, k).exp()


def _log_mass(half: int, k: int) -> Ball:
    return arb(2 * half + 1).lgamma() - arb(half + k + 1).lgamma() - arb(half - k + 1).lgamma() - 2 * half * arb(2).log()


def tail_ball(half: int, k: int) -> Ball:
    """P(K ≥ k) = I_{1/2}(m + k, m − k + 1), the regularised incomplete beta function."""
    if k <= -half:
        return arb(1)
    return arb(0) if k > half else (arb(1) / 2).beta_lower(arb(half + k), arb(half - k + 1), True)


@lru_cache(maxsize=4096)
def certified_delta(half: int, steps: int, epsilon: Fraction) -> Fraction:
    """An upper bound on δ(ε) for a query that moves by ``steps`` ≥ 1."""
    if steps > 2 * half:
        return Fraction(1)  # no output is possible under both
    first = first_beyond(half, steps, epsilon)
    with precision(_BITS):
        hockey_stick = tail_ball(half, first) - ball(epsilon).exp() * tail_ball(half, first + steps)
        return min(Fraction(1), ends(hockey_stick)[1])


def first_beyond(half: int, steps: int, epsilon: Fraction) -> int:
    """t: the least k from −m to m with f(k) > e^ε f(k + s). There is one: beyond m − s nothing is possible on the other side."""
    low, high = -half - 1, half - steps + 1  # not beyond, beyond
    while high - low > 1:
        middle = (low + high) // 2
        if _is_beyond(half, steps, epsilon, middle):
            high = middle
        else:
            low = middle
    return high


def _is_beyond(half: int, steps: int, epsilon: Fraction, k: int) -> bool:
    """Decided with as many digits as it takes: e^ε is no fraction but at ε = 0, where the nearer to the middle is likelier."""
    if epsilon == 0:
        return abs(k) < abs(k + steps)
    bits = _BITS
    while bits <= _MOST_BITS:
        with precision(bits):
            excess = _log_mass(half, k) - _log_mass(half, k + steps) - ball(epsilon)
            if excess > 0 or excess < 0:
                return bool(excess > 0)
        bits *= 2
    raise ArithmeticError("no number of digits decides where the event begins")


@lru_cache(maxsize=4096)
def least_epsilon(half: int, steps: int, failure: Fraction) -> Fraction | None:
    """The least ε with δ(ε) ≤ failure, to a millionth of it and never below it; None where there is none up to 10^6.

    A start from the normal law, then outward and inward by halves of the distance; each step is certified.
    """
    low, high = Fraction(0), _start(half, steps, failure)
    while certified_delta(half, steps, high) > failure:
        low, high = high, 2 * high
        if high > _MOST_EPSILON:
            return None
    while high - low > high * _CLOSE:
        middle = ((low + high) / 2).limit_denominator(10**12) if high > _CLOSE else (low + high) / 2
        if certified_delta(half, steps, middle) <= failure:
            high = middle
        else:
            low = middle
    return high


def _start(half: int, steps: int, failure: Fraction) -> Fraction:
    """About ε of Gaussian noise of the same deviation, rounded to a few digits."""
    mu = steps / math.sqrt(half / 2)
    guess = mu * math.sqrt(2 * math.log(1 / float(max(failure, Fraction(1, 10**300))))) + mu * mu / 2
    return Fraction(max(guess, 1e-9)).limit_denominator(10**9) or Fraction(1, 10**9)
