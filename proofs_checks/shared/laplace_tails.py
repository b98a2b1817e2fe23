"""Exact tails of sums of Laplace noises: the second route beside every bound on them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, factorial
from typing import Any

import mpmath
import numpy as np
from scipy.special import gammaln, logsumexp

MP = mpmath.MPContext()
MP.dps = 50


def digits(value: Any, count: int = 40) -> str:
    """A number as text with this many digits."""
    return str(MP.nstr(MP.mpf(value), count))


def short(value: Any, count: int = 6) -> float:
    """A number for a table."""
    return float(f"{float(value):.{count}g}")


@lru_cache(maxsize=512)
def tail_polynomial(n: int) -> tuple[Fraction, ...]:
    """c with P(z_1 + … + z_n > t) = e^{-t} Σ_j c_j t^j for t ≥ 0, z ~ Lap(1). All c_j are positive.

    The sum is G − G' for two Gamma(n) variables. P(G > t + G') = Σ_{j<n} E[e^{-(t+G')} (t+G')^j]/j!, where
    E[e^{-G'} G'^i] = n(n+1)…(n+i−1)/2^{n+i}.
    """
    moments, moment = [], Fraction(1, 2**n)
    for i in range(n):
        moments.append(moment)
        moment *= Fraction(n + i, 2)
    coefficients = [Fraction(0)] * n
    for j in range(n):
        for i in range(j + 1):
            coefficients[j - i] += Fraction(comb(j, i), factorial(j)) * moments[i]
    return tuple(coefficients)


def tail(n: int, t: Any) -> Any:
    """P(z_1 + … + z_n > t), t ≥ 0, to 50 digits. ``t`` may be a Fraction."""
    at = MP.mpf(t.numerator) / t.denominator if isinstance(t, Fraction) else MP.mpf(t)
    total = MP.mpf(0)
    for c in reversed(tail_polynomial(n)):
        total = total * at + MP.mpf(c.numerator) / c.denominator
    return MP.exp(-at) * total


def log_tail(n: int, t: Any) -> np.ndarray:
    """log P(z_1 + … + z_n > t) in floats, for any n and an array t > 0: a sum of positive terms.

    Count the arrivals of a Poisson process: Poisson(t) of them by time t and a negative binomial number during G'; the sum
    exceeds t just if there are fewer than n.
    """
    at = np.atleast_1d(np.asarray(t, dtype=float))
    j = np.arange(n)
    log_poisson = -at + j[:, None] * np.log(at) - gammaln(j + 1)[:, None]
    result: np.ndarray = logsumexp(log_poisson + _log_arrivals(n)[::-1, None], axis=0)
    return result


@lru_cache(maxsize=512)
def _log_arrivals(n: int) -> np.ndarray:
    """log P(negative binomial(n, ½) ≤ k) for k = 0 … n−1."""
    k = np.arange(n)
    result: np.ndarray = np.logaddexp.accumulate(gammaln(n + k) - gammaln(n) - gammaln(k + 1) - (n + k) * np.log(2.0))
    return result


def tail_of_distinct(coefficients: list[Fraction], t: Any) -> Any:
    """P(Σ l_k z_k > t) for different l_k > 0 and t ≥ 0: ½ Σ_k e^{-t/l_k} Π_{j≠k} 1/(1 − l_j²/l_k²), by partial fractions."""
    total = MP.mpf(0)
    for k, own in enumerate(coefficients):
        share = Fraction(1)
        for j, other in enumerate(coefficients):
            share = share if j == k else share / (1 - other**2 / own**2)
        total += MP.mpf(share.numerator) / share.denominator * MP.exp(-MP.mpf(t) * own.denominator / own.numerator)
    return total / 2


def chernoff(n: Any, tau: Any) -> np.ndarray:
    """log of inf_{0<x<1} (1−x²)^{-n} e^{-xτ}, at x = (√(n²+τ²) − n)/τ."""
    terms, at = np.asarray(n, dtype=float), np.asarray(tau, dtype=float)
    x = (np.hypot(terms, at) - terms) / at
    result: np.ndarray = -terms * np.log1p(-x * x) - x * at
    return result


def simulated_tail(n: int, t: float, draws: int, seed: int) -> tuple[int, int]:
    """How many of ``draws`` sums of n Laplace noises exceed t: a difference of two Gamma variables. (exceeding, draws)"""
    rng = np.random.default_rng(seed)
    difference = rng.standard_gamma(n, draws) - rng.standard_gamma(n, draws)
    return int((difference > t).sum()), draws
