"""Discrete Laplace noise: P(k) = tanh(a/2) e^(−a|k|), a = grid/scale (Ghosh et al. 2009)."""

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
from dpaudit.noise.loss_facts import LaplaceFact
from dpaudit.noise.mechanism import GRID, LARGEST, Units, as_counts, as_units, read_grid
from dpaudit.noise.parameter import Parameter, aligned, check_width, chosen, read_parameter, same, single
from dpaudit.noise.sampling.geometric import add_two_sided
from dpaudit.noise.sampling.probability_bits import Ball, approximate, ball, enclose
from dpaudit.noise.sampling.simulation import two_sided, two_sided_sum
from dpaudit.noise.sampling.source import Source


def _written_cost(parameters: Mapping[str, Fraction], sensitivity: Fraction) -> Fraction:
    """ε = Δ/b (Dwork & Roth 2014, Thm 3.6). On a grid, a sum moves by whole steps: Δ is rounded up."""
    grid = parameters.get("grid")
    moved = sensitivity if grid is None else -(-sensitivity // grid) * grid
    return moved / parameters["scale"]


@dataclass(frozen=True, eq=False)
class Laplace(AdditiveNoise):
    """Laplace noise on a grid. ``Laplace(scale=2)`` with sensitivity 2 costs exactly ε = 1.

    On whole numbers, ``Laplace(scale, grid=1)`` is the geometric mechanism.
    Raises ``InvalidValue`` for a scale that is not above 0 or is wider than 2^50 units.
    """

    scale: Parameter
    grid: Fraction = GRID

    name: ClassVar[str] = "laplace"
    words: ClassVar[str] = "Laplace noise"
    size_name: ClassVar[str] = "scale"
    size_words: ClassVar[str] = "Laplace noise of scale"
    theorem: ClassVar[str] = "Laplace mechanism (Dwork et al. 2006)"
    curve_theorem: ClassVar[str] = "δ(ε) of discrete Laplace noise, exactly"
    norm: ClassVar[int] = 1
    pure: ClassVar[bool] = True
    most_changes: ClassVar[int] = 1
    blanket: ClassVar[str] = "laplace"
    forms: ClassVar[dict[str, WrittenForm]] = {"laplace": WrittenForm("laplace", ("scale",), {}, None, _written_cost, grid=GRID)}

    def __init__(self, scale: Number | NDArray[Any], grid: Number = GRID) -> None:
        object.__setattr__(self, "scale", read_parameter(scale, "scale"))
        object.__setattr__(self, "grid", read_grid(grid))
        check_width(self.scale, self.grid, "scale")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Laplace) and self.grid == other.grid and same(self.scale, other.scale)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Of numbers alone, so that it is the same in every process that it is sent to."""
        return hash((self.grid, self.scale if isinstance(self.scale, Fraction) else len(self.scale)))

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> Laplace:
        return cls(size, grid)

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Laplace | None:
        match {"grid": show(GRID), **parameters}:
            case {"scale": scale, "grid": grid, **rest} if not rest:
                return cls(scale, grid)
        return None

    @property
    def size(self) -> Parameter:
        return self.scale

    @property
    def width_units(self) -> Fraction:
        return single(self.scale, "scale") / self.grid

    @property
    def spread(self) -> Fraction | None:
        return None

    @cached_property
    def rate(self) -> Fraction:
        """a = grid/scale: the privacy loss per unit."""
        return self.grid / single(self.scale, "scale")

    def parameters(self) -> dict[str, str]:
        return {"scale": show(single(self.scale, "scale")), "grid": show(self.grid)}

    def at(self, index: Any) -> Laplace:
        return Laplace(chosen(self.scale, index), self.grid)

    def draw(self, units: ArrayLike, source: Source) -> Units:
        queries = as_units(units)
        return add_two_sided(queries.ravel(), self.rate, source).reshape(queries.shape)

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        noise = two_sided(aligned(self.scale, self.grid, queries.shape), queries.shape, rng)
        return np.asarray(queries + noise)

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        queries = as_units(units)
        reports = as_counts(counts, queries.shape)
        spread = np.broadcast_to(aligned(self.scale, self.grid, queries.shape), queries.shape).ravel()
        return np.asarray(queries + two_sided_sum(spread, reports, rng).reshape(queries.shape))

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        o, q, p = np.broadcast_arrays(as_units(output), as_units(query), as_units(other))
        return np.asarray((np.abs(o - p) - np.abs(o - q)) / aligned(self.scale, self.grid, o.shape))

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        return (abs(output - other) - abs(output - query)) * self.rate

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        a = self.rate

        def logarithm() -> Ball:  # tanh(a/2) = (1 − e^-a)/(1 + e^-a)
            t = ball(-a).exp()
            return (-t).log1p() - t.log1p() - ball(a * abs(noise_units))

        return approximate(logarithm, digits)

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        return whole(sensitivity_units, "sensitivity_units", least=0) * self.rate

    def rho(self, steps: int) -> Fraction | None:
        return None

    def loss(self, steps: int) -> LaplaceFact:
        return LaplaceFact(self.rate, steps)

    def crossing(self, query: int, other: int, level: Fraction) -> int:
        shift = int(level * self.width_units / 2) * (1 if query > other else -1)
        return max(-LARGEST, min(LARGEST, (query + other) // 2 + shift))

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        budget, k = exact_epsilon(epsilon), whole(sensitivity_units, "sensitivity_units", least=0)
        a = self.rate
        if budget >= k * a:
            return Fraction(0)
        # The loss at output o is a(|o − k| − |o|), which falls in o: it exceeds ε up to o = m ≥ 0, where
        # δ(ε) = P(K ≤ m) − e^ε P(K ≤ m − k) = 1 − (e^(−a(m+1)) + e^(ε − a(k−m)))/(1 + e^−a).
        m = -(-(k - budget / a) // 2) - 1

        def hockey_stick() -> Ball:
            return 1 - (ball(-a * (m + 1)).exp() + ball(budget - a * (k - m)).exp()) / (1 + ball(-a).exp())

        return enclose(hockey_stick, 20)[1]

    def tail(self, k: int, digits: int = 30) -> tuple[Fraction, Fraction]:
        a = self.rate
        if k <= 0:
            lower, upper = self.tail(1 - k, digits)
            return 1 - upper, 1 - lower
        return enclose(lambda: ball(-a * k).exp() / (1 + ball(-a).exp()), digits)
