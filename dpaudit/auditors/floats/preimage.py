"""Which floats can be a fixed value plus the output of a known sampler? Mironov 2012, "On significance of the least significant
bits for differential privacy". An answer only names an event; whether that event tells data sets apart is tested on runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpaudit.auditors.floats.matched_outputs import FACTOR

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


def numpy_laplace(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """numpy's Generator.laplace: U = k/2^53, then log(U + U) below a half and −log(2 − U − U) above it."""

    def noises(k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low = k * 2.0**-53
        high = 1.0 - low
        return np.log(low + low), -np.log(2.0 - high - high)  # 2 − U is rounded before U is taken away again

    return _search(values, centre, scale, noises)


def inverse_cdf(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """The textbook form ∓log(1 − 2|U − ½|), U = k/2^53: `random.random()` and diffprivlib before its repair."""

    def noises(k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = np.log(k * 2.0**-52)
        return size, -size

    return _search(values, centre, scale, noises)


def _search(
    values: np.ndarray, centre: float, scale: float, noises: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    with np.errstate(over="ignore"):  # too far away: the nearest k is clipped to 1
        nearest = np.floor(np.exp(-np.abs(values - centre) / scale) * 2.0**52)
    found = np.zeros(values.shape, dtype=bool)
    for step in _AROUND:
        for noise in noises(np.clip(nearest + step, 1.0, 2.0**52)):
            found |= centre + noise * scale == values
    return found


SAMPLERS: dict[str, Reach] = {
    "any float64 sampler": any_float,
    "numpy's Laplace sampler": numpy_laplace,
    "the inverse-CDF Laplace sampler": inverse_cdf,
}


def best_guess(values: np.ndarray, others: np.ndarray, noises: Sequence[Additive]) -> tuple[str, Additive] | None:
    """The sampler and parameters whose preimages separate the training outputs best; None where none does."""
    choices = [(name, noise) for noise in (*noises, *guessed(values, others)) for name in SAMPLERS]

    def gain(choice: tuple[str, Additive]) -> float:
        reach, noise = SAMPLERS[choice[0]], choice[1]

        def lost(outputs: np.ndarray, centre: float) -> float:
            return 1.0 - float(reach(outputs, centre, noise.scale).mean())

        there = lost(values, noise.other) - FACTOR * lost(others, noise.other)
        return max(there, lost(others, noise.centre) - FACTOR * lost(values, noise.centre))

    best = max(choices, key=gain, default=None)
    return best if best is not None and gain(best) > 0 else None


def guessed(values: np.ndarray, others: np.ndarray) -> list[Additive]:
    """Centres and scales from training outputs alone: the shortest decimals that fit them, for centres also the nearest
    whole numbers, for scales also 1/ε and 2/ε."""
    if min(len(values), len(others)) < 20:
        return []
    medians = [float(np.median(side)) for side in (values, others)]
    spread = float(np.mean([np.abs(side - m).mean() for side, m in zip((values, others), medians, strict=True)]))
    if not 0 < spread < np.inf:
        return []
    error = 3 * spread / np.sqrt(min(len(values), len(others)))
    middles = [sorted({_shortest(m, error), *_whole(m, error)}) for m in medians]
    scales = {_shortest(spread, error)} | {top / _shortest(top / spread, top / spread * error / spread) for top in (1.0, 2.0)}
    pairs = product(middles[0], middles[1], sorted(scales))
    return [Additive(centre, other, scale) for centre, other, scale in pairs if 0 < scale < np.inf and centre != other]


def _whole(number: float, error: float) -> list[float]:
    """The two whole numbers around it, where they fit."""
    return [float(w) for w in (np.floor(number), np.ceil(number)) if abs(w - number) <= error]


def _shortest(number: float, error: float) -> float:
    """The decimal with the fewest places within ``error``; zero where it fits."""
    if abs(number) <= error:
        return 0.0
    first = -int(np.floor(np.log10(abs(number) + error)))
    rounded = (round(number, places) for places in range(first, first + 18))
    return next((short for short in rounded if abs(short - number) <= error), number)
