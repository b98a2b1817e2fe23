"""Which floats can be a fixed value plus the output of a known sampler? Mironov 2012, "On significance of the least significant
bits for differential privacy". An answer only names an event; whether that event tells data sets apart is tested on runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

_NEAR = range(-4, 5)  # whole numbers around a median that may be the centre
_STEPS = 3  # the nearest quotient is off by less
_AROUND = range(-4, 5)  # exp, a difference and a product are each off by at most a unit in the last place

Reach = Callable[[np.ndarray, float, float], np.ndarray]


@dataclass(frozen=True)
class Additive:
    """A guess: outputs are ``centre`` on one data set and ``other`` on its neighbour, plus noise of this scale."""

    centre: float
    other: float
    scale: float


def any_float(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """Is there a float64 whose sum with the centre rounds to the value? Whatever the sampler; the scale plays no part."""
    noise = values - centre
    near = (noise, np.nextafter(noise, np.inf), np.nextafter(noise, -np.inf))
    return np.logical_or.reduce([centre + one == values for one in near])


def scaled_float(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """Is there a float64 whose product with the scale, rounded, gives the value when it is added to the centre, rounded again?

    Any sampler of a standard law that is scaled afterwards, as numpy's normal is: products skip floats where the scale's
    mantissa stretches a binade.
    """
    nearest = (values - centre) / scale
    below = above = nearest
    reached = centre + nearest * scale == values
    for _ in range(_STEPS):
        below, above = np.nextafter(below, -np.inf), np.nextafter(above, np.inf)
        reached |= (centre + below * scale == values) | (centre + above * scale == values)
    return reached


Logarithm = Callable[[np.ndarray], np.ndarray]
_one_by_one = np.frompyfunc(math.log, 1, 1)


def _library_log(values: np.ndarray) -> np.ndarray:
    """As samplers in C compute it: np.log is another routine on some processors, and its last bit differs in some places."""
    return np.asarray(_one_by_one(values), dtype=np.float64)


def numpy_laplace(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """numpy's Generator.laplace: U = k/2^53, then log(U + U) below a half and −log(2 − U − U) above it."""

    def noises(k: np.ndarray, log: Logarithm) -> tuple[np.ndarray, np.ndarray]:
        low = k * 2.0**-53
        high = 1.0 - low
        return log(low + low), -log(2.0 - high - high)  # 2 − U is rounded before U is taken away again

    return _search(values, centre, scale, noises)


def inverse_cdf(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """The textbook form ∓log(1 − 2|U − ½|), U = k/2^53: `random.random()` and diffprivlib before its repair."""

    def noises(k: np.ndarray, log: Logarithm) -> tuple[np.ndarray, np.ndarray]:
        size = log(k * 2.0**-52)
        return size, -size

    return _search(values, centre, scale, noises)


Noises = Callable[[np.ndarray, Logarithm], tuple[np.ndarray, np.ndarray]]


def _search(values: np.ndarray, centre: float, scale: float, noises: Noises) -> np.ndarray:
    reached = _near(values, centre, scale, noises, np.log)
    reached[~reached] = _near(values[~reached], centre, scale, noises, _library_log)
    return reached


def _near(values: np.ndarray, centre: float, scale: float, noises: Noises, log: Logarithm) -> np.ndarray:
    with np.errstate(over="ignore"):  # too far away: the nearest k is clipped to 1
        nearest = np.floor(np.exp(-np.abs(values - centre) / scale) * 2.0**52)
    reached = np.zeros(values.shape, dtype=bool)
    for step in _AROUND:
        for noise in noises(np.clip(nearest + step, 1.0, 2.0**52), log):
            reached |= centre + noise * scale == values
    return reached


SAMPLERS: dict[str, Reach] = {
    "any float64 sampler": any_float,
    "any float64 sampler, scaled afterwards,": scaled_float,
    "numpy's Laplace sampler": numpy_laplace,
    "the inverse-CDF Laplace sampler": inverse_cdf,
}


def guessed(values: np.ndarray, others: np.ndarray) -> list[Additive]:
    """Centres and scales from training outputs alone: the shortest decimals that fit them, for centres also whole numbers near
    them, for scales also 1/ε and 2/ε."""
    if min(len(values), len(others)) < 20:
        return []
    medians = [float(np.median(side)) for side in (values, others)]
    spread = float(np.mean([np.abs(side - m).mean() for side, m in zip((values, others), medians, strict=True)]))
    if not 0 < spread < np.inf:
        return []
    error = 3 * spread / np.sqrt(min(len(values), len(others)))
    middles = [sorted({_shortest(m, error), *_whole(m, error)}) for m in medians]
    pairs = product(middles[0], middles[1], _scales(spread, error))
    return [Additive(centre, other, scale) for centre, other, scale in pairs if 0 < scale < np.inf and centre != other]


def _scales(spread: float, error: float) -> list[float]:
    """From the mean distance to the middle: it is the scale of Laplace noise, and √(2/π) times that of normal noise."""
    scales = {_shortest(wide, error) for wide in (spread, spread * math.sqrt(math.pi / 2))}
    return sorted(scales | {top / _shortest(top / spread, top / spread * error / spread) for top in (1.0, 2.0)})


def _whole(number: float, error: float) -> list[float]:
    """The whole numbers that fit it; the nearest of them, where there are many."""
    near = np.rint(number) + np.array(_NEAR)
    return [float(one) for one in near if abs(one - number) <= max(error, 1.0)]


def _shortest(number: float, error: float) -> float:
    """The decimal with the fewest places within ``error``; zero where it fits."""
    if abs(number) <= error:
        return 0.0
    first = -int(np.floor(np.log10(abs(number) + error)))
    rounded = (round(number, places) for places in range(first, first + 18))
    return next((short for short in rounded if abs(short - number) <= error), number)
