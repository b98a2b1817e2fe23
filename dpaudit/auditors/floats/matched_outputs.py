"""Outputs of two data sets, compared at equal coarse values: how much more frequent is an event on one side, surely?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

FACTOR = 8.0  # how much the frequency of an event may differ between neighbours within one small cell of values
CELLS = 16  # quantiles of training outputs
GROUPS = np.array([[start <= c < start + w for c in range(CELLS)] for w in (16, 8, 4) for start in range(0, CELLS, w)])


def coarse_edges(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Between the cells, from finite training outputs of both sides."""
    return np.quantile(np.concatenate([first, second]), np.linspace(0, 1, CELLS + 1)[1:-1])


def coarse_cells(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Which sixteenth of the coarse values; −1 for NaN and infinities, which have no last bit."""
    return np.where(np.isfinite(values), np.searchsorted(edges, values, side="right"), -1)


@dataclass(frozen=True)
class Comparison:
    """Fresh runs on both data sets, and the cells of their coarse values."""

    first: np.ndarray
    second: np.ndarray
    cells: np.ndarray
    other_cells: np.ndarray
    factor: float
    delta: float

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, edges: np.ndarray, factor: float, delta: float) -> Comparison:
        cells, other_cells = coarse_cells(first, edges), coarse_cells(second, edges)
        return cls(first, second, cells, other_cells, factor, delta)

    def matched(self) -> tuple[np.ndarray, np.ndarray]:
        """As many runs of each side in every cell: the earliest ones."""
        counts = [np.bincount(cells[cells >= 0], minlength=CELLS) for cells in (self.cells, self.other_cells)]
        fewest = np.append(np.minimum(*counts), 0)  # the last entry serves cell −1
        return _earliest(self.cells, fewest), _earliest(self.other_cells, fewest)

    def excess(self, event: np.ndarray, other_event: np.ndarray, level: float) -> np.ndarray:
        """(groups, events): the proven ratio beyond ``FACTOR`` at equal coarse values; 0 where nothing is proven.

        ``event``, ``other_event``: (runs, events). Within a group of cells the matched counts are sums of independent
        indicators with unequal probabilities; Clopper–Pearson bounds hold for those too (Hoeffding 1956, Thm 4).
        """
        keep, other_keep = self.matched()
        counts = _counts(event, self.cells), _counts(other_event, self.other_cells)
        matched = _counts(event[keep], self.cells[keep]), _counts(other_event[other_keep], self.other_cells[other_keep])
        sizes = (GROUPS @ np.bincount(self.cells[keep], minlength=CELLS))[:, None]
        breaks = at_least(counts[0], len(self.first), level) > (
            self.factor * at_most(counts[1], len(self.second), level) + self.delta
        )
        ratio = at_least(matched[0], sizes, level) / at_most(matched[1], sizes, level)
        return np.where(breaks & (ratio > FACTOR), ratio, 0.0)


def _earliest(cells: np.ndarray, fewest: np.ndarray) -> np.ndarray:
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], cells[order], side="left")
    keep = np.zeros(len(cells), dtype=bool)
    keep[order] = np.arange(len(cells)) - starts < fewest[cells[order]]
    return keep


def _counts(event: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """(groups, events): in how many runs the event happened, group by group."""
    per_cell = np.array([event[cells == c].sum(axis=0) for c in range(CELLS)])
    return np.asarray(GROUPS @ per_cell)


def at_least(count: ArrayLike, n: ArrayLike, level: float) -> np.ndarray:
    """Clopper–Pearson: the probability is at least this, but for an error of ``level``."""
    some, size = np.broadcast_arrays(np.asarray(count, dtype=float), np.asarray(n, dtype=float))
    positive = np.maximum(some, 1e-300)
    return np.where(some > 0, betaincinv(positive, size - some + 1.0, level), 0.0)


def at_most(count: ArrayLike, n: ArrayLike, level: float) -> np.ndarray:
    """The probability is at most this, but for an error of ``level``."""
    some, size = np.broadcast_arrays(np.asarray(count, dtype=float), np.asarray(n, dtype=float))
    return np.where(some < size, betaincinv(some + 1.0, np.maximum(size - some, 1e-300), 1 - level), 1.0)
