"""Action sets that are hard for a design: crowds in one direction, many scales, thin directions, few actions in late ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Family = Callable[[np.random.Generator, int, int], np.ndarray]  # (rng, K, d) → (K, d) in the unit ball, spanning


def sphere(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    points = rng.standard_normal((count, dim))
    result: np.ndarray = points / np.linalg.norm(points, axis=1, keepdims=True)
    return result


def crowd(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """All but d − 1 actions near e_1."""
    points = np.zeros((count, dim))
    points[:, 0] = 1 - 1e-3 * rng.random(count)
    points[: dim - 1] = np.eye(dim)[1:]
    return points


def scales(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Lengths 1, 1/2, …, 2^-39."""
    result: np.ndarray = sphere(rng, count, dim) * 0.5 ** rng.integers(0, 40, size=(count, 1))
    return result


def thin(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Nine in ten actions are short, down to 10^-3, in the later directions."""
    points = sphere(rng, count, dim)
    shrink = 10.0 ** (-3 * np.arange(dim) / max(dim - 1, 1))
    return np.where(rng.random((count, 1)) < 0.9, points * shrink, points)


def tower(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Half of the actions near e_1, a quarter near e_2, …"""
    points = 1e-3 * rng.standard_normal((count, dim))
    place = np.minimum(rng.geometric(0.5, count) - 1, dim - 1)
    place[:dim] = np.arange(dim)
    points[np.arange(count), place] += 1
    result: np.ndarray = points / np.linalg.norm(points, axis=1, keepdims=True)
    return result


FAMILIES: dict[str, Family] = {"sphere": sphere, "crowd": crowd, "scales": scales, "thin": thin, "tower": tower}
