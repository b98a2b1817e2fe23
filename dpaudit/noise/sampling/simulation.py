"""Fast seeded draws for audits: numpy's generators, the same laws up to the resolution of float64.

These are not for a deployment: a float64 uniform cannot reach every output, and its seed can be found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpaudit.claims import InvalidValue
from dpaudit.noise.parameter import Floats

# numpy's Poisson compares log-densities of the size of its mean: above this their rounding would show.
_LARGEST_MEAN = 2.0**36
_SMOOTH = 3.0  # units; from here on a sum of discrete Gaussians is discrete Gaussian to 10^-28
_REACH = 12  # standard deviations of a tabulated Gaussian; beyond is 10^-31


def two_sided(spread: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
    """K with P(k) ∝ e^(−|k|/spread): the difference of two geometric variables, floors of exponentials."""
    noise = np.floor(np.multiply(rng.standard_exponential(shape), spread))
    noise -= np.floor(np.multiply(rng.standard_exponential(shape), spread))
    return np.asarray(noise).astype(np.int64)


def two_sided_sum(spread: NDArray[np.float64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The sum of ``counts`` variables K with P(k) ∝ e^(−|k|/spread) per entry (one axis).

    Raises ``InvalidValue`` when 40 standard deviations of the sum leave ±2^62.
    """
    if (np.sqrt(2.0 * counts) * spread * 40 > 2.0**62).any():
        raise InvalidValue("counts", "more", "so many that the noise of their sum stays below 2^62 units")
    # Each sum may exceed int64 and wrap around; their difference does not, and is then right modulo 2^64.
    return np.asarray(_geometric_sum(spread, counts, rng) - _geometric_sum(spread, counts, rng))


def _geometric_sum(spread: NDArray[np.float64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The sum of ``counts`` geometric variables with P(G ≥ g) = e^(−g/spread), modulo 2^64.

    The sum is negative binomial: Poisson with a Gamma mean. Where that mean is too large for numpy's Poisson,
    the low binary digits are summed apart: digit j is Bernoulli(1/(1 + e^(2^j/spread))), its sum binomial;
    what is left of each variable is geometric with spread/2^digits.
    """
    mean = float((spread * counts).max(initial=0.0))
    digits = max(0, int(np.ceil(np.log2(max(mean, 1.0) / _LARGEST_MEAN))))
    total = np.zeros(counts.shape, dtype=np.int64)
    for j in range(digits):
        total += rng.binomial(counts, expit(-(2.0**j) / spread)) << j
    rate = 2.0**digits / spread
    odds = np.exp(-rate) / -np.expm1(-rate)
    high = rng.poisson(rng.standard_gamma(counts) * odds)
    return np.asarray(total + (high << digits))


def discrete_gaussian(spread: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """K with P(k) ∝ e^(−k²/(2 spread²)) per entry (one axis): Canonne, Kamath, Steinke 2020, Algorithm 3."""
    noise = np.zeros(len(spread), dtype=np.int64)
    pending = np.arange(len(spread))
    while pending.size:
        sigma = spread[pending]
        width = np.floor(sigma) + 1
        proposed = two_sided(width, pending.shape, rng)
        excess = ((np.abs(proposed) - sigma * sigma / width) / sigma) ** 2 / 2
        accepted = rng.standard_exponential(pending.shape) > excess  # probability e^-excess
        noise[pending[accepted]] = proposed[accepted]
        pending = pending[~accepted]
    return noise


def discrete_gaussian_sum(spread: NDArray[np.float64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The sum of ``counts`` discrete Gaussians per entry (one axis).

    From 3 units on it is discrete Gaussian, within 10 · count · e^(−π² spread²) in total variation (Kairouz,
    Liu, Steinke 2021, arXiv 2102.06387). Below, the values are counted: how often each occurs is multinomial.
    """
    total = np.zeros(len(spread), dtype=np.int64)
    wide = (spread >= _SMOOTH) & (counts > 0)
    total[wide] = discrete_gaussian(spread[wide] * np.sqrt(counts[wide]), rng)
    narrow = (spread < _SMOOTH) & (counts > 0)
    values = np.arange(-int(_REACH * _SMOOTH), int(_REACH * _SMOOTH) + 1)
    weights = np.exp(-((values / spread[narrow, None]) ** 2) / 2)
    times = rng.multinomial(counts[narrow], weights / weights.sum(axis=-1, keepdims=True))
    total[narrow] = times @ values
    return total
