"""Rows of records clipped to a norm, for plain and for sealed data alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue, Number, positive
from dpaudit.noise import GRID
from dpaudit.sealed.array import Sealed
from dpaudit.sealed.row_clipping import clipped_rows
from dpaudit.sealed.trace import LARGEST
from dpaudit.sealed.traces.norms import clip_private_rows


def clip_rows(rows: Any, norm: Number, order: int = 2) -> Any:
    """Rows whose L2 norm (``order=1``: L1 norm) is at most ``norm``: longer ones are shortened to it.

    A sum of such rows has sensitivity 2·norm where a record is replaced, and norm where one is removed, in that norm. Rows lie on
    the grid 2^-20, and so does the norm, rounded inward, so that sums are exact and nothing is charged for rounding. Plain rows
    give a plain array, sealed rows a sealed one, by the same computation.
    """
    length = positive(norm, "norm")
    if order not in (1, 2):
        raise InvalidValue("order", order, "1 or 2")
    if not GRID <= length <= LARGEST * GRID:
        raise InvalidValue("norm", norm, "between 2^-20, the grid that records lie on, and 2^32")
    if isinstance(rows, Sealed):
        private = rows._private
        clipped = clip_private_rows(private, length, order)
        if clipped is None:
            clipped = private.lost("clip_rows of rows that are not one record each", _plain(private.value, length, order))
        return Sealed(clipped, rows._run)
    return _plain(np.asarray(rows), length, order)


def _plain(rows: np.ndarray, norm: Any, order: int) -> np.ndarray:
    if rows.ndim not in (1, 2) or rows.dtype.kind not in "biuf":
        raise InvalidValue("rows", f"{rows.dtype.type.__name__} of {rows.ndim} dimensions", "one number or one row per record")
    return clipped_rows(rows, norm, order)
