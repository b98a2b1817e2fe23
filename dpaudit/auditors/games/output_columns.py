"""Columns that training fixes: where each part of an output goes, whatever comes later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.runs.output_cells import ORDERED, Kind
from dpaudit.auditors.runs.transcripts import padded


@dataclass(frozen=True)
class Parts:
    """(runs, columns): what kind of thing each part is, and its number; kind 0 where there is no such part."""

    kinds: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class Columns:
    """From rows as subjects give them to columns: those of training that say something, and one that counts the others."""

    width: int  # of a table of numbers; 0 for rows of cells
    paths: np.ndarray  # of cells, sorted
    numbered: np.ndarray  # columns whose numbers differ
    odd: np.ndarray  # columns whose kinds differ

    @classmethod
    def of(cls, rows: np.ndarray, of_cells: bool) -> Columns:
        paths = np.zeros(0)
        if of_cells:
            paths = np.unique(np.concatenate([np.unique(place) for place in rows[:, 0::3].T] or [np.zeros(0)]))
            paths = paths[paths != 0]
        blank = cls(0 if of_cells else rows.shape[1], paths, np.zeros(0, int), np.zeros(0, int))
        parts = blank.parts(rows)
        differ = [np.flatnonzero((side != side[:1]).any(axis=0)) for side in (parts.numbers, parts.kinds)]
        return cls(blank.width, paths, *differ)

    def parts(self, rows: np.ndarray) -> Parts:
        if self.width or not rows.shape[1]:
            return _of_numbers(padded(rows, self.width))
        return _of_cells(rows, self.paths)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """A table of finite numbers: 0 for what is none, with a column for the kinds of those that are not always one."""
        parts = self.parts(rows)
        return np.concatenate([parts.numbers[:, self.numbered], parts.kinds[:, self.odd]], axis=1)


def _of_numbers(table: np.ndarray) -> Parts:
    kinds = np.full(table.shape, float(Kind.FLOAT))
    odd = ~np.isfinite(table)
    if odd.any():
        kinds[np.isnan(table)], kinds[np.isposinf(table)] = Kind.NOT_A_NUMBER, Kind.INFINITY
        kinds[np.isneginf(table)] = Kind.MINUS_INFINITY
    return Parts(kinds, np.where(odd, 0.0, table) + 0.0)


def _of_cells(rows: np.ndarray, paths: np.ndarray) -> Parts:
    kinds, numbers = np.zeros((len(rows), len(paths) + 1)), np.zeros((len(rows), len(paths) + 1))
    kinds[:, -1] = Kind.LENGTH
    every = np.arange(len(rows))
    for cell in range(rows.shape[1] // 3):
        path, kind, number = rows[:, 3 * cell], rows[:, 3 * cell + 1], rows[:, 3 * cell + 2]
        place = np.minimum(np.searchsorted(paths, path), max(len(paths) - 1, 0))
        known = (paths[place] == path) if len(paths) else np.zeros(len(rows), bool)
        kinds[every[known], place[known]], numbers[every[known], place[known]] = kind[known], number[known]
        numbers[:, -1] += (path != 0) & ~known
    return Parts(kinds, numbers)


def ordered(parts: Parts) -> np.ndarray:
    """Which parts are numbers that may be compared?"""
    return np.asarray((parts.kinds >= Kind.FLOAT) & (parts.kinds <= ORDERED))
