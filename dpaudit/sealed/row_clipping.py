"""Rows clipped to an L1 or L2 norm, on the grid that records lie on: one implementation for plain and for sealed rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpaudit.noise import GRID

_UNITS = float(1 / GRID)


def norm_units(norm: Fraction) -> int:
    """The norm in steps of the grid, rounded inward."""
    return math.floor(norm / GRID)


def clipped_rows(rows: np.ndarray, norm: Fraction, order: int) -> np.ndarray:
    """Each row as it is, rounded to the grid, where its norm is at most ``norm``; else shortened to it, rounded towards 0.

    Rows with NaN or an infinity become 0. Every row is computed from its own numbers alone, column by column, so that it comes
    out the same wherever it stands and whatever else is there. Norms are compared in whole numbers.
    """
    table = np.asarray(rows, dtype=float).reshape(len(rows), math.prod(np.shape(rows)[1:]))
    table = np.where(np.isfinite(table).all(axis=1, keepdims=True), table, 0.0)
    most = norm_units(norm)
    with np.errstate(over="ignore"):
        units = np.floor(table * _UNITS + 0.5)
    far = _longer(units, most, order)
    units[far] = _shortened(table[far], most, order)
    return (units / _UNITS).reshape(np.shape(rows))


def _longer(units: np.ndarray, most: int, order: int) -> np.ndarray:
    """Which rows have a norm above ``most``: a number above it alone is enough, so that larger ones need not be squared."""
    cut = np.minimum(np.abs(units), float(most + 1))
    wide = max(cut.shape[1], 1) * (most + 1) ** order >= 2**63
    whole = np.vectorize(int, otypes=[object])(cut) if wide and cut.size else cut.astype(np.int64)
    return np.asarray((whole**order).sum(axis=1) > most**order, dtype=bool)


def _shortened(table: np.ndarray, most: int, order: int) -> np.ndarray:
    """Rows in units, of norm at most ``most``.

    Relative to its largest number, a row of d numbers has a norm in [1, d], computed with an error below d·2^-52; quotient and
    product err by 2^-52. Shortened by (d + 8)·2^-50 in advance, and rounded towards 0, no row is longer than ``most``.
    """
    largest = np.abs(table).max(axis=1, initial=0.0, keepdims=True)
    parts = table / np.where(largest > 0, largest, 1.0)
    length = np.zeros((len(table), 1))
    for column in range(table.shape[1]):
        part = parts[:, column : column + 1]
        length = length + (part * part if order == 2 else np.abs(part))
    length = np.sqrt(length) if order == 2 else length
    reach = most * (1 - (table.shape[1] + 8) * 2.0**-50)
    return np.trunc(parts * (reach / np.maximum(length, 1.0)))
