"""Long batches of reports, one part after another: what is needed meanwhile stays small, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from dpaudit.noise import Noise

# Reports at once: 8 MB for each array of them. Half or twice is as fast, and gives seeded runs with longer batches other draws.
PART = 2**20


def parts(length: int) -> Iterator[slice]:
    for start in range(0, length, PART):
        yield slice(start, start + PART)


def in_parts(work: Callable[[np.ndarray], np.ndarray], reports: np.ndarray) -> np.ndarray:
    """``work(reports)`` for what treats each report by itself."""
    if reports.ndim != 1 or len(reports) <= PART:
        return work(reports)
    return _joined(len(reports), (work(reports[part]) for part in parts(len(reports))))


def _joined(length: int, done: Iterator[np.ndarray]) -> np.ndarray:
    """The parts in one array, each copied there when it comes."""
    made: np.ndarray | None = None
    for part, found in zip(parts(length), done, strict=True):
        made = np.empty((length, *found.shape[1:]), dtype=found.dtype) if made is None else made
        made[part] = found
    assert made is not None
    return made


class Elsewhere(Protocol):
    """Workers that draw the parts of a long batch, here or on other machines."""

    def each(self, work: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
        """``work`` of all arguments, in their order, a few at a time."""
        ...


def draw_part(noise: Noise, units: np.ndarray, seed: tuple[int, ...]) -> np.ndarray:
    """What these reports become. A function of its arguments alone, so that it is the same wherever it is drawn."""
    return noise.simulate(units, np.random.default_rng(seed))


def draw_in_parts(noise: Noise, units: np.ndarray, generator: np.random.Generator, elsewhere: Elsewhere | None) -> np.ndarray:
    """A seeded batch. A long one is drawn in parts, each from a seed of its own, which the generator gives to the batch."""
    if units.ndim != 1 or len(units) <= PART:
        return noise.simulate(units, generator)
    batch = tuple(int(word) for word in generator.integers(2**63, size=2))
    asked = ((noise, units[part], (*batch, number)) for number, part in enumerate(parts(len(units))))
    return _joined(len(units), (draw_part(*one) for one in asked) if elsewhere is None else elsewhere.each(draw_part, asked))


def sum_by_tag(
    units: np.ndarray, tags: np.ndarray | None, size: int, unfold: Callable[[np.ndarray], np.ndarray] = np.asarray
) -> np.ndarray:
    """Exact integer sums of the last axis, per tag; of outputs that stand for bits, one for each bit, on the last axis.

    What would not fit into a sum of so many is clipped first.
    """
    most = 2**62 // max(units.shape[-1], 1)
    if units.ndim != 1 or len(units) <= PART:
        return _sums(units, tags, size, unfold, most)
    total = None
    for part in parts(len(units)):
        found = _sums(units[part], None if tags is None else tags[part], size, unfold, most)
        total = found if total is None else total + found
    assert total is not None
    return total


def _sums(
    units: np.ndarray, tags: np.ndarray | None, size: int, unfold: Callable[[np.ndarray], np.ndarray], most: int
) -> np.ndarray:
    shown = np.clip(unfold(units), -most, most)
    if shown.ndim == units.ndim:
        return _sum(shown, tags, size)
    return np.moveaxis(_sum(np.moveaxis(shown, -1, 0), tags, size), 0, -1)


def _sum(units: np.ndarray, tags: np.ndarray | None, size: int) -> np.ndarray:
    if tags is None:
        return units.sum(axis=-1, keepdims=True, dtype=np.int64)
    order = np.argsort(tags, kind="stable")
    ends = np.searchsorted(tags[order], np.arange(size + 1))
    running = np.zeros((*units.shape[:-1], units.shape[-1] + 1), dtype=np.int64)
    np.cumsum(units[..., order], axis=-1, out=running[..., 1:])
    return running[..., ends[1:]] - running[..., ends[:-1]]
