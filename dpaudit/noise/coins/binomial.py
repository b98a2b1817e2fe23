"""Fair coins: the noise is the number of heads among an even number of them, less half that number.

So sums leave a shuffler to which every client sends its own bits and some coins (Cheu, Joseph, Mao, Peng 2021, and Cheu et al.
2019 before them): of shuffled bits nothing is left but how many are 1. Outputs are bounded, so that some of them tell all;
a ``failure`` is chosen with the noise, and ε is what holds beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from dpaudit.claims import InvalidValue, Number, WrittenForm, exact_delta, exact_epsilon, show, whole
from dpaudit.noise.coins.binomial_curve import certified_delta, least_epsilon, mass_ball, tail_ball
from dpaudit.noise.families import AdditiveNoise
from dpaudit.noise.mechanism import LARGEST, Bounds, Units, as_counts, as_units, read_grid
from dpaudit.noise.sampling.fair_coins import heads
from dpaudit.noise.sampling.probability_bits import approximate, ball, enclose
from dpaudit.noise.sampling.source import Source

MOST_COINS = 2**50
_FAR = 2.0**40  # the loss of an output that is possible on one side alone, for scores
_EXACT_LOGARITHMS = 10**6  # of this many coins gammaln has digits to spare
FAILURE = Fraction(1, 10**6)


def _written_cost(parameters: Mapping[str, Fraction], sensitivity: Fraction) -> Fraction | None:
    grid = parameters.get("grid", Fraction(1))
    noise = Binomial(parameters["coins"], parameters["failure"], grid)
    return noise.epsilon(int(-(-sensitivity // grid)))


@dataclass(frozen=True, eq=False)
class Binomial(AdditiveNoise):
    """``Binomial(coins=400, failure="1e-6")`` on whole numbers: (ε, failure)-DP at the least ε that is certified.

    A vector that moves by Δ in all is no worse than one number that does: the noise is log-concave (see ``Planned.release``).
    Raises ``InvalidValue`` for an odd number of coins, none or more than 2^50, and for a failure that is not between 0 and 1.
    """

    coins: Fraction
    failure: Fraction = FAILURE
    grid: Fraction = Fraction(1)

    name: ClassVar[str] = "binomial"
    words: ClassVar[str] = "binomial noise"
    size_name: ClassVar[str] = "coins"
    size_words: ClassVar[str] = "binomial noise, coins:"
    theorem: ClassVar[str] = "binomial noise, its δ(ε) exactly (Cheu et al. 2021)"
    curve_theorem: ClassVar[str] = "δ(ε) of binomial noise, exactly"
    norm: ClassVar[int] = 1
    pure: ClassVar[bool] = True  # beside its failure
    fails: ClassVar[bool] = True
    most_changes: ClassVar[int] = 1
    rate: ClassVar[None] = None
    spread: ClassVar[None] = None
    forms: ClassVar[dict[str, WrittenForm]] = {"binomial": WrittenForm("binomial", ("coins", "failure"), {}, None, _written_cost)}

    def __init__(self, coins: Number, failure: Number = FAILURE, grid: Number = 1) -> None:
        number = whole(coins, "coins", least=2, most=MOST_COINS)
        if number % 2:
            raise InvalidValue("coins", coins, "an even number")
        share = exact_delta(failure, "failure")
        if not 0 < share < 1:
            raise InvalidValue("failure", failure, "above 0 and below 1")
        object.__setattr__(self, "coins", Fraction(number))
        object.__setattr__(self, "failure", share)
        object.__setattr__(self, "grid", read_grid(grid))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Binomial) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, Fraction, Fraction, Fraction]:
        return self.name, self.coins, self.failure, self.grid

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> Binomial:
        return cls(size, FAILURE, grid)

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Binomial | None:
        match {"grid": "1", **parameters}:
            case {"coins": coins, "failure": failure, "grid": grid, **rest} if not rest:
                return cls(coins, failure, grid)
        return None

    @property
    def size(self) -> Fraction:
        return self.coins

    @property
    def half(self) -> int:
        """m: noise lies between −m and m."""
        return int(self.coins) // 2

    @property
    def width_units(self) -> Fraction:
        """The standard deviation √(coins)/2, to a whole number."""
        return Fraction(max(1, math.isqrt(int(self.coins)) // 2))

    def parameters(self) -> dict[str, str]:
        return {"coins": show(self.coins), "failure": show(self.failure), "grid": show(self.grid)}

    def at(self, index: Any) -> Binomial:
        return self

    def draw(self, units: ArrayLike, source: Source) -> Units:
        queries = as_units(units)
        return np.asarray(queries + heads(self.half, queries.size, source).reshape(queries.shape))

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        return np.asarray(queries + rng.binomial(2 * self.half, 0.5, queries.shape) - self.half)

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        reports = as_counts(counts, queries.shape).reshape(queries.shape)
        return np.asarray(queries + rng.binomial(2 * self.half * reports, 0.5) - self.half * reports)

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        return np.clip(super().wild(queries, rng), queries - self.half, queries + self.half)

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        o, q, p = np.broadcast_arrays(as_units(output), as_units(query), as_units(other))
        here, there = (_log_weight(self.half, o - centre) for centre in (q, p))
        with np.errstate(invalid="ignore"):
            ratio = np.where(np.isneginf(here) & np.isneginf(there), 0.0, here - there)
        return np.asarray(np.clip(ratio, -_FAR, _FAR))

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        return Fraction(0) if query == other else None  # the logarithm of a fraction

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        if abs(noise_units) > self.half:
            return approximate(lambda: ball(-(2**60)), digits)
        return approximate(lambda: mass_ball(self.half, noise_units).log(), digits)

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        """The least ε, to a millionth of it, at which δ(ε) is certified to be at most ``failure``; None where there is none."""
        steps = whole(sensitivity_units, "sensitivity_units", least=0)
        return Fraction(0) if steps == 0 else least_epsilon(self.half, steps, self.failure)

    def rho(self, steps: int) -> None:
        return None

    def loss(self, steps: int) -> Any:
        raise InvalidValue("noise", self.name, "composed by its (ε, δ)")

    def crossing(self, query: int, other: int, level: Fraction) -> int:
        shift = int(level * self.coins / 4 / (query - other))
        return max(-LARGEST, min(LARGEST, (query + other) // 2 + max(-self.half, min(self.half, shift))))

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        steps = whole(sensitivity_units, "sensitivity_units", least=0)
        return Fraction(0) if steps == 0 else certified_delta(self.half, steps, exact_epsilon(epsilon))

    def tail(self, k: int, digits: int = 30) -> Bounds:
        if k <= -self.half or k > self.half:
            return (Fraction(1), Fraction(1)) if k <= 0 else (Fraction(0), Fraction(0))
        lower, upper = enclose(lambda: tail_ball(self.half, k), digits)
        return lower, min(upper, Fraction(1))


def _log_weight(half: int, noise: Units) -> NDArray[np.float64]:
    """log C(2m, m + k) up to a constant; −∞ beyond the ends."""
    inside = np.abs(noise) <= half
    k = np.where(inside, noise, 0)
    if half <= _EXACT_LOGARITHMS:
        logarithm = -gammaln(half + k + 1.0) - gammaln(half - k + 1.0)
    else:  # Stirling; the series of (1 + x) log(1 + x) + (1 − x) log(1 − x), whose terms would cancel
        x = k / half
        series = sum(x ** (2 * j) / (j * (2 * j - 1)) for j in range(1, 12))
        near = np.minimum(np.abs(x), 1 - 1e-12)
        whole_one = (1 + near) * np.log1p(near) + (1 - near) * np.log1p(-near)
        logarithm = -half * np.where(np.abs(x) < 0.1, series, whole_one) - np.log1p(-near * near) / 2
    return np.where(inside, logarithm, -np.inf)
