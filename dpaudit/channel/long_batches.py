"""Long batches of reports, one part after another: what is needed meanwhile stays small, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

# Reports at once: 8 MB for each array of them. Half or twice is as fast, and gives seeded runs with longer batches other draws.
PART = 2**20


def parts(length: int) -> Iterator[slice]:
    for start in range(0, length, PART):
        yield slice(start, start + PART)


def in_parts(work: Callable[[np.ndarray], np.ndarray], reports: np.ndarray) -> np.ndarray:
    """``work(reports)`` for what treats each report by itself."""
    if reports.ndim != 1 or len(reports) <= PART:
        return work(reports)
    made: np.ndarray | None = None
    for part in parts(len(reports)):
        done = work(reports[part])
        made = np.empty((len(reports), *done.shape[1:]), dtype=done.dtype) if made is None else made
        made[part] = done
    assert made is not None
    return made


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
