"""The law of G for Laplace reports in floats, for searches and never for bounds: a quadrature of the lattice's points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from dpaudit.accountants.numerics.contour import Complexes, log1p

Floats = npt.NDArray[np.float64]
_PIECE, _PER_PIECE = 6.0, 24  # the quadrature has 24 nodes for every 6 units of log u
_LISTED = 48  # inner points up to which all are taken


@dataclass(frozen=True)
class LaplaceFloats:
    """G at ε for n reports with ε0 on ``steps`` steps: in the blanket, or in the attack of blanket.py."""

    epsilon0: float
    steps: int
    n: int
    epsilon: float
    attack: bool = False

    @cached_property
    def points(self) -> tuple[Floats, Floats]:
        """Weights and values, the largest value first; they leave out G = 0."""
        weights, log_u = points(self.epsilon0, self.steps, self.attack)
        values = math.exp(self.epsilon) * np.expm1(log_u - self.epsilon)
        if self.attack:
            return weights, values
        return np.concatenate([weights, weights[:-1]]), np.concatenate([values, -np.expm1(log_u[:-1] + self.epsilon)])

    @property
    def top(self) -> float:
        return math.exp(self.epsilon) * math.expm1(self.epsilon0 - self.epsilon)

    @property
    def mean(self) -> float:
        """E G = 1 − e^ε, exactly."""
        return -math.expm1(self.epsilon)

    def cumulants(self, c: float) -> tuple[float, float, float]:
        weights, values = self.points
        if c * float(values[0]) > 600:
            return math.inf, math.inf, math.inf
        firsts, seconds, idle, _ = self._moments
        height = c * values
        x = np.expm1(height)
        if self._far(c):
            tilted = np.exp(height)
            phi, first, second = idle + float(weights @ tilted), float(firsts @ tilted), float(seconds @ tilted)
            if phi < 1e-100:
                return math.inf, math.inf, math.inf
            log_phi = math.log1p(float(weights @ x)) if phi > 0.5 else math.log(phi)
        else:  # with the exact mean, which the points give up to rounding only
            log_phi = math.log1p(c * self.mean + float(weights @ (x - height)))
            phi, first, second = math.exp(log_phi), self.mean + float(firsts @ x), float(seconds @ (1 + x))
        return log_phi, first / phi, second / phi - (first / phi) ** 2

    def tilted_powers(self, c: float) -> tuple[float, float, float, float]:
        weights, values = self.points
        firsts, seconds, idle, _ = self._moments
        tilted = np.exp(c * values)
        phi = idle + float(weights @ tilted)
        squares = seconds * tilted
        cubes = squares * values
        return float(firsts @ tilted) / phi, float(squares.sum()) / phi, float(cubes.sum()) / phi, float(cubes @ values) / phi

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, float, float]:
        """Weight times value, and times its square; the weight of G = 0; the smallest value."""
        weights, values = self.points
        return weights * values, weights * values**2, 1 - float(weights.sum()), float(values.min())

    def _far(self, c: float) -> bool:
        """Are some values so far out that the exact mean is of no help?"""
        return -c * self._moments[3] > 1

    def log_moment(self, z: Complexes) -> Complexes:
        weights, values = self.points
        c, phase = float(z[0].real), np.multiply.outer(z.imag, values)  # one abscissa for all z
        x = np.expm1(c * values)
        tilted = weights * (1 + x)
        real = float(weights @ x) if self._far(c) else c * self.mean + float(weights @ (x - c * values))
        turned = 0.0 if self._far(c) else z.imag * self.mean - phase @ weights
        return log1p(real - 2 * (np.sin(phase / 2) ** 2 @ tilted) + 1j * (turned + np.sin(phase) @ tilted))


@lru_cache(maxsize=64)
def points(epsilon0: float, steps: int, attack: bool) -> tuple[Floats, Floats]:
    """Weights and log u from one end to the middle point (no weight if there is none), or in the attack to the other end."""
    a, count = epsilon0 / steps, steps - 1 if attack else (steps - 1) // 2
    end = math.exp(-epsilon0) / (1 + math.exp(-a))
    middle = math.tanh(a / 2) * math.exp(-epsilon0 / 2) if steps % 2 == 0 else 0.0
    last = (1 / (1 + math.exp(-a)), -epsilon0) if attack else (middle, 0.0)
    if count <= _LISTED:
        y, counts = np.arange(1, count + 1, dtype=np.float64), np.ones(count)
    else:  # Σ f(y) is near the integral of f from 1/2 to count + 1/2
        nodes, widths = _quadrature(math.ceil((2 if attack else 1) * epsilon0 / _PIECE))
        y, counts = 0.5 + nodes * count, widths * count
    weights = math.tanh(a / 2) * np.exp(a * y - epsilon0) * counts
    return np.concatenate([[end], weights, [last[0]]]), np.concatenate([[epsilon0], epsilon0 - 2 * a * y, [last[1]]])


@lru_cache(maxsize=64)
def _quadrature(pieces: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1], in equal pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(_PER_PIECE)
    places = (np.arange(pieces)[:, None] + (nodes + 1) / 2) / pieces
    return places.ravel(), np.tile(weights / 2 / pieces, pieces)
