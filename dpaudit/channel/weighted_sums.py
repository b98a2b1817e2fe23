"""A sum times a public constant, released on the grid of the sum times that constant.

The sum S of records lies on the grid g; a sum of squares or products on a finer one. Released as w·S on the grid |w|·g, it is
the whole number S/g with noise in whole numbers: nothing is rounded, and Laplace noise of scale b costs exactly ε = Δ|w|/b. A
float is a constant by its exact value, and a mean divides by the whole number n. A scale that a float has rounded below
m·Δ|w|/ε of the claim, for a whole number m, by at most 2^-50, is raised to that: more noise never costs more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID, Noise, to_units
from dpaudit.sealed.array import Sealed, Untraced, dependence, unseal, weighted_sum

_BELOW = Fraction(1, 2**50)
_LARGEST = 2**52  # units


@dataclass
class Weights:
    """What the sealed runs of a subject showed: for each release that is a weighted sum, its grid and its move in steps of it.

    The same code on plain numbers releases the same on the same grid.
    """

    of: dict[str, tuple[Fraction, int]] = field(default_factory=dict)  # grid, steps
    known: bool = False


_in_force: ContextVar[tuple[Weights, Fraction] | None] = ContextVar("the weights of a subject", default=None)


@contextmanager
def weights_in_force(weights: Weights, epsilon: Fraction) -> Iterator[None]:
    """While a subject runs; ``epsilon`` is that of its claim."""
    token = _in_force.set((weights, epsilon))
    try:
        yield
    finally:
        _in_force.reset(token)


@dataclass(frozen=True)
class Query:
    """What a door draws noise for: ``weight`` times ``value``, with noise on its own grid."""

    value: Any
    noise: Noise
    weight: Fraction = Fraction(1)
    near: bool = False  # plain numbers that lie on the grid but for their rounding

    def units(self) -> np.ndarray:
        """In steps of the noise's grid."""
        if isinstance(self.value, Sealed):
            return to_units(unseal(self.value), self.noise.grid / self.weight)
        if not self.near:
            return to_units(self.value, self.noise.grid)
        steps = np.asarray(self.value, dtype=float) / float(self.noise.grid)
        return np.clip(np.rint(np.nan_to_num(steps, nan=0.0)), -_LARGEST, _LARGEST).astype(np.int64)


def query_of(name: str, value: Any, noise: Noise, budget: Fraction | None) -> Query:
    """The query on the grid that its trace gives; as it is, where it is no weighted sum or the noise has a grid of its own."""
    in_force = _in_force.get()
    epsilon = budget if in_force is None else in_force[1]
    if noise.grid != GRID or noise.norm not in (1, 2) or noise.fails:
        return Query(value, noise)
    if not isinstance(value, Sealed):
        known = None if in_force is None else in_force[0].of.get(name)
        changed = None if known is None else _on_grid(noise, *known, epsilon)
        return Query(value, noise) if changed is None else Query(value, changed, near=True)
    form = weighted_sum(value)
    moves = None if form is None else dependence(form[0])
    if form is None or moves is None or isinstance(moves, Untraced):
        return Query(value, noise)
    source, weight, grid = form
    steps = moves.steps(grid, noise.norm)
    changed = _on_grid(noise, grid * abs(weight), steps, epsilon)
    if changed is None:
        return Query(value, noise)
    if in_force is not None:
        in_force[0].of[name] = changed.grid, steps
    return Query(source if weight > 0 else -source, changed, abs(weight))


def _on_grid(noise: Noise, grid: Fraction, steps: int, epsilon: Fraction | None) -> Noise | None:
    """The same noise on the grid of a weighted sum; None where it is too wide or too narrow for that."""
    size = noise.size
    if epsilon and noise.pure and isinstance(size, Fraction) and steps:
        size = _raised(size, steps * grid / epsilon)
    try:
        return type(noise).of_size(size, grid, {})  # type: ignore[arg-type]
    except InvalidValue:
        return None


def _raised(scale: Fraction, least: Fraction) -> Fraction:
    """The whole multiple of ``least`` that the scale is meant to be, where it is below that by its rounding alone."""
    times = round(scale / least)
    meant = times * least
    return meant if times >= 1 and meant * (1 - _BELOW) <= scale < meant else scale
