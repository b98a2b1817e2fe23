"""Action sets of a linear bandit, in the unit ball of R^d, and random instances.

``Finite``, ``Ball``, ``Sphere``, ``Box`` and ``Ellipsoid`` answer ``.actions(horizon)`` with a ``Net``: the
finitely many actions that an algorithm plays in their place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from algorithms.actions.nets import (
    LIMIT,
    NORM_SLACK,
    Net,
    ellipsoid,
    ellipsoid_count,
    finest_net,
    grid,
    validate,
)
from algorithms.actions.span import Floats
from dpaudit.claims import InvalidValue, whole

__all__ = ["Ball", "Box", "Ellipsoid", "Finite", "Net", "Sphere", "random_instance", "validate"]


@dataclass(frozen=True, eq=False)
class Finite:
    """The rows of an array: its own net, with ζ = 0."""

    array: Floats

    def __init__(self, array: npt.ArrayLike) -> None:
        validate(array)
        points = np.array(array, dtype=np.float64)
        points.setflags(write=False)
        object.__setattr__(self, "array", points)

    def actions(self, horizon: int, *, limit: int = LIMIT) -> Net:
        """All the rows, whatever the horizon and the limit."""
        whole(horizon, "horizon")
        return Net(self.array, 0.0, 0.0, validate(self.array))


@dataclass(frozen=True)
class _Round:
    """What a ball and a sphere around 0 have in common."""

    dim: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", whole(self.dim, "dim"))
        _check_radius(self.radius)


@dataclass(frozen=True)
class Ball(_Round):
    """{a : |a| ≤ radius} in R^dim, radius ≤ 1."""

    def actions(self, horizon: int, *, limit: int = LIMIT) -> Net:
        axes = np.full(self.dim, self.radius)
        return finest_net(
            horizon,
            limit,
            lambda zeta: ellipsoid_count(axes, zeta, limit),
            lambda z: (ellipsoid(axes, z), z),
        )


@dataclass(frozen=True)
class Sphere(_Round):
    """{a : |a| = radius} in R^dim, radius ≤ 1."""

    def actions(self, horizon: int, *, limit: int = LIMIT) -> Net:
        if self.dim == 1:
            return finest_net(horizon, limit, lambda _: 2, lambda _: (np.array([[-self.radius], [self.radius]]), 0.0))
        if self.dim == 2:
            return finest_net(horizon, limit, lambda zeta: _angles(zeta / self.radius), self._circle)
        return finest_net(horizon, limit, self._count, self._cube)

    def _circle(self, zeta: float) -> tuple[Floats, float]:
        """n equal angles: the farthest point is half a step, π/n, away, at a chord of 2r·sin(π/2n)."""
        n = _angles(zeta / self.radius)
        turns = 2 * np.pi * np.arange(n) / n
        points = self.radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        return points, 2 * self.radius * math.sin(math.pi / (2 * n))

    def _side(self, zeta: float) -> int:
        return max(1, math.ceil(math.sqrt(self.dim - 1) * self.radius / zeta))

    def _count(self, zeta: float) -> int:
        return 2 * self.dim * math.prod([self._side(zeta)] * (self.dim - 1))

    def _cube(self, zeta: float) -> tuple[Floats, float]:
        """n^(d−1) cell centres on each face of the cube [−r, r]^d, drawn in to the sphere.

        A point a of the sphere is c = r·a/|a|_∞ drawn in. c lies on a face, in a cell of side 2r/n, so a
        centre p is within √(d−1)·r/n of it. Both are outside the ball, where drawing in is the projection on
        the ball, which is 1-Lipschitz; hence the same distance holds on the sphere.
        """
        n = self._side(zeta)
        centres = self.radius * ((2 * np.arange(n) + 1) / n - 1)
        face = grid([centres] * (self.dim - 1))
        sides = [np.insert(face, axis, sign * self.radius, axis=1) for axis in range(self.dim) for sign in (-1, 1)]
        points = np.concatenate(sides)
        points *= self.radius / np.linalg.norm(points, axis=1, keepdims=True)
        return points, math.sqrt(self.dim - 1) * self.radius / n


@dataclass(frozen=True)
class Box:
    """{a : |a_i| ≤ half_widths[i]}, with its corners in the unit ball."""

    half_widths: tuple[float, ...]

    def __init__(self, half_widths: npt.ArrayLike) -> None:
        widths = np.asarray(half_widths, dtype=np.float64)
        if widths.ndim != 1 or not widths.size or not np.isfinite(widths).all() or widths.min() < 0:
            raise InvalidValue("half_widths", widths.tolist(), "a list of finite numbers, zero or more")
        if not 0 < np.linalg.norm(widths) <= 1 + NORM_SLACK:
            raise InvalidValue("half_widths", widths.tolist(), "the corner of a box in the unit ball, not all zero")
        object.__setattr__(self, "half_widths", tuple(widths.tolist()))

    def actions(self, horizon: int, *, limit: int = LIMIT) -> Net:
        return finest_net(horizon, limit, lambda zeta: math.prod(self._sides(zeta)), self._points)

    def _sides(self, zeta: float) -> list[int]:
        root = math.sqrt(sum(width > 0 for width in self.half_widths))
        return [1 + max(1, math.ceil(width * root / zeta)) if width > 0 else 1 for width in self.half_widths]

    def _points(self, zeta: float) -> tuple[Floats, float]:
        """n_i equally spaced values per axis, ends included: at most w_i/(n_i − 1) away along it."""
        sides = list(zip(self.half_widths, self._sides(zeta), strict=True))
        points = grid([np.linspace(-width, width, n) if n > 1 else np.zeros(1) for width, n in sides])
        return points, math.sqrt(sum((width / (n - 1)) ** 2 for width, n in sides if n > 1))


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """{L u : |u| ≤ 1} for a square matrix L of spectral norm at most 1."""

    matrix: Floats

    def __init__(self, matrix: npt.ArrayLike) -> None:
        array = np.array(matrix, dtype=np.float64)
        square = array.ndim == 2 and array.shape[0] == array.shape[1] > 0
        if not square or not np.isfinite(array).all():
            raise InvalidValue("matrix", array.shape, "a square array of finite numbers")
        norm = float(np.linalg.norm(array, 2))
        if not 0 < norm <= 1 + NORM_SLACK:
            raise InvalidValue("matrix", norm, "of spectral norm above 0 and at most 1")
        array.setflags(write=False)
        object.__setattr__(self, "matrix", array)

    def actions(self, horizon: int, *, limit: int = LIMIT) -> Net:
        directions, axes, _ = np.linalg.svd(self.matrix)
        solid = axes > 1e-12 * axes[0]  # a flat one: covered in its span, thickness added to ζ
        thickness = float(axes[~solid].max(initial=0.0))
        rotation, axes = directions[:, solid].T, axes[solid]
        return finest_net(
            horizon,
            limit,
            lambda zeta: ellipsoid_count(axes, zeta, limit),
            lambda zeta: (ellipsoid(axes, zeta) @ rotation, zeta + thickness),
        )


def random_instance(
    rng: np.random.Generator, actions: int = 10, dim: int = 2, instances: int | None = None
) -> tuple[Floats, Floats]:
    """Actions (K, d) and θ (d,), independent and uniform on the unit sphere; ``instances`` adds an axis."""
    lead = () if instances is None else (whole(instances, "instances"),)
    vectors = rng.standard_normal((*lead, whole(actions, "actions") + 1, whole(dim, "dim")))
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors[..., :-1, :].copy(), vectors[..., -1, :].copy()


def simulated_instance(actions: Floats, trials: int | None, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Actions of an evaluation and their means: these (K, d), random θ; with trials, a random instance of their size for each."""
    if trials is None:
        theta = rng.normal(size=actions.shape[1])
        return actions, actions @ (theta / np.linalg.norm(theta))
    count, dim = actions.shape
    every, thetas = random_instance(rng, count, dim, instances=trials)
    return every, np.einsum("gkd,gd->gk", every, thetas)


def _angles(zeta: float) -> int:
    """The least number of equal angles, at least 3, whose covering radius on the unit circle is ζ."""
    return max(3, math.ceil(math.pi / (2 * math.asin(min(zeta / 2, 1.0)))))


def _check_radius(radius: float) -> None:
    if not (math.isfinite(radius) and 0 < radius <= 1):
        raise InvalidValue("radius", radius, "above 0 and at most 1")
