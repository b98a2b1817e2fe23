"""Discrete Gaussian noise: P(k) ∝ e^(−k²/(2s²)), s = sigma/grid (Canonne, Kamath, Steinke 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import Number, WrittenForm, exact_epsilon, show, whole
from dpaudit.noise.families import AdditiveNoise
from dpaudit.noise.gaussian_tail import normaliser, tail_ball
from dpaudit.noise.loss_facts import GaussianFact
from dpaudit.noise.mechanism import GRID, LARGEST, Units, as_counts, as_units, read_grid
from dpaudit.noise.parameter import Parameter, aligned, check_width, chosen, read_parameter, same, single
from dpaudit.noise.sampling.discrete_gaussian import discrete_gaussian_words
from dpaudit.noise.sampling.probability_bits import approximate, ball, ends, precision
from dpaudit.noise.sampling.simulation import discrete_gaussian, discrete_gaussian_sum
from dpaudit.noise.sampling.source import Source


def _written_cost(parameters: Mapping[str, Fraction], sensitivity: Fraction) -> None:
    """No pure ε."""
    return None


@dataclass(frozen=True, eq=False)
class Gaussian(AdditiveNoise):
    """Gaussian noise on a grid. No pure ε; δ(ε) is certified.

    Raises ``InvalidValue`` for a sigma that is not above 0 or is wider than 2^50 units.
    """

    sigma: Parameter
    grid: Fraction = GRID

    name: ClassVar[str] = "gaussian"
    words: ClassVar[str] = "Gaussian noise"
    size_name: ClassVar[str] = "sigma"
    size_words: ClassVar[str] = "Gaussian noise of sigma"
    theorem: ClassVar[str] = "discrete Gaussian (Canonne et al. 2020)"
    curve_theorem: ClassVar[str] = "δ(ε) of discrete Gaussian noise, exactly (Canonne, Kamath, Steinke 2020, Thm 7)"
    norm: ClassVar[int] = 2
    pure: ClassVar[bool] = False
    most_changes: ClassVar[int] = 1
    forms: ClassVar[dict[str, WrittenForm]] = {
        "gaussian": WrittenForm("gaussian", ("sigma",), {}, None, _written_cost, grid=GRID)
    }

    def __init__(self, sigma: Number | NDArray[Any], grid: Number = GRID) -> None:
        object.__setattr__(self, "sigma", read_parameter(sigma, "sigma"))
        object.__setattr__(self, "grid", read_grid(grid))
        check_width(self.sigma, self.grid, "sigma")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gaussian) and self.grid == other.grid and same(self.sigma, other.sigma)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Of numbers alone, so that it is the same in every process that it is sent to."""
        return hash((self.grid, self.sigma if isinstance(self.sigma, Fraction) else len(self.sigma)))

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> Gaussian:
        return cls(size, grid)

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Gaussian | None:
        match {"grid": show(GRID), **parameters}:
            case {"sigma": sigma, "grid": grid, **rest} if not rest:
                return cls(sigma, grid)
        return None

    @property
    def size(self) -> Parameter:
        return self.sigma

    @property
    def width_units(self) -> Fraction:
        return self.spread

    @property
    def rate(self) -> Fraction | None:
        return None

    @property
    def spread(self) -> Fraction:
        """s = sigma/grid: the standard deviation in units."""
        return single(self.sigma, "sigma") / self.grid

    def parameters(self) -> dict[str, str]:
        return {"sigma": show(single(self.sigma, "sigma")), "grid": show(self.grid)}

    def at(self, index: Any) -> Gaussian:
        return Gaussian(chosen(self.sigma, index), self.grid)

    def draw(self, units: ArrayLike, source: Source) -> Units:
        queries = as_units(units)
        noise = discrete_gaussian_words(self.spread, queries.size, source)
        return np.asarray(queries + noise.reshape(queries.shape))

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        spread = np.broadcast_to(aligned(self.sigma, self.grid, queries.shape), queries.shape).ravel()
        return np.asarray(queries + discrete_gaussian(spread, rng).reshape(queries.shape))

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        reports = as_counts(counts, queries.shape)
        spread = np.broadcast_to(aligned(self.sigma, self.grid, queries.shape), queries.shape).ravel()
        return np.asarray(queries + discrete_gaussian_sum(spread, reports, rng).reshape(queries.shape))

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        o, q, p = np.broadcast_arrays(as_units(output), as_units(query), as_units(other))
        spread = aligned(self.sigma, self.grid, o.shape)
        # ((o − p)² − (o − q)²)/(2s²), factored: the squares would overflow, and their difference cancel
        return np.asarray((q - p) / spread * (((o - p) + (o - q)) / spread) / 2)

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        return ((output - other) ** 2 - (output - query) ** 2) / (2 * self.spread**2)

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        s = self.spread
        exponent = noise_units**2 / (2 * s * s)
        return approximate(lambda: -ball(exponent) - normaliser(s).log(), digits)

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        return None if whole(sensitivity_units, "sensitivity_units", least=0) else Fraction(0)

    def rho(self, steps: int) -> Fraction:
        """Δ²/(2σ²), in any number of coordinates (Canonne, Kamath, Steinke 2020, Thm 14)."""
        return (steps * self.grid) ** 2 / (2 * single(self.sigma, "sigma") ** 2)

    def loss(self, steps: int) -> GaussianFact:
        return GaussianFact(self.spread, steps)

    def crossing(self, query: int, other: int, level: Fraction) -> int:
        shift = int(level * self.spread**2 / (query - other))
        return max(-LARGEST, min(LARGEST, (query + other) // 2 + shift))

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        budget, k = exact_epsilon(epsilon), whole(sensitivity_units, "sensitivity_units", least=0)
        if k == 0:
            return Fraction(0)
        s = self.spread
        # Canonne, Kamath, Steinke 2020, Theorem 7: δ = P(K > εs²/k − k/2) − e^ε P(K > εs²/k + k/2)
        first = (budget * s * s / k - Fraction(k, 2)) // 1 + 1
        with precision(256):
            hockey_stick = tail_ball(s, first) - ball(budget).exp() * tail_ball(s, first + k)
            return min(Fraction(1), ends(hockey_stick)[1])

    def tail(self, k: int, digits: int = 30) -> tuple[Fraction, Fraction]:
        with precision(int(digits * 3.33) + 128):
            lower, upper = ends(tail_ball(self.spread, k))
        return lower, min(Fraction(1), upper)
