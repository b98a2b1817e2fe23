"""Discrete Gaussian noise: P(k) ∝ e^(−k²/(2s²)), s = sigma/grid (Canonne, Kamath, Steinke 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import Number, exact_epsilon, show, whole
from dpaudit.noise.gaussian_tail import normaliser, tail_ball
from dpaudit.noise.mechanism import GRID, Units, as_counts, as_units, read_grid
from dpaudit.noise.parameter import Parameter, aligned, check_width, chosen, read_parameter, same, single
from dpaudit.noise.sampling.discrete_gaussian import discrete_gaussian_words
from dpaudit.noise.sampling.probability_bits import approximate, ball, ends, precision
from dpaudit.noise.sampling.simulation import discrete_gaussian, discrete_gaussian_sum
from dpaudit.noise.sampling.source import Source


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Gaussian noise on a grid. No pure ε; δ(ε) is certified.

    Raises ``InvalidValue`` for a sigma that is not above 0 or is wider than 2^50 units.
    """

    sigma: Parameter
    grid: Fraction = GRID

    name: ClassVar[str] = "gaussian"
    norm: ClassVar[int] = 2

    def __init__(self, sigma: Number | NDArray[Any], grid: Number = GRID) -> None:
        object.__setattr__(self, "sigma", read_parameter(sigma, "sigma"))
        object.__setattr__(self, "grid", read_grid(grid))
        check_width(self.sigma, self.grid, "sigma")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gaussian) and self.grid == other.grid and same(self.sigma, other.sigma)

    def __hash__(self) -> int:
        return hash((self.name, self.grid, self.sigma if isinstance(self.sigma, Fraction) else len(self.sigma)))

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
