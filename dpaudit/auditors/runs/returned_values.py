"""What subjects return, as rows of numbers; and marks for what those do not tell of many trials: signs of zero, last digits."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from dpaudit.auditors.runs.output_cells import ALLOWED, EXACT
from dpaudit.claims import DpauditError


def as_rows(returned: Any, count: int) -> np.ndarray:
    """An array, or a tuple of arrays, with trials first: one row per trial."""
    return np.concatenate([_numbers(array).reshape(count, -1) for array in _parts(returned, count)], axis=1)


def row_marks(returned: Any, count: int) -> np.ndarray | None:
    """For each row a checksum of what its numbers do not tell (signs of zeros, last digits), 0 for most; None if 0 for all.
    What a whole call shares, as types and shapes, says nothing about one of its trials."""
    lost = [(place, part) for place, array in enumerate(_parts(returned, count)) if (part := _lost(array)) is not None]
    marks = np.zeros(count)
    for place, part in lost:
        flat = part.reshape(count, -1)
        for row in np.flatnonzero(flat.any(axis=1)):
            marks[row] += zlib.crc32(flat[row].tobytes(), place + 1)
    return marks if lost else None


def _parts(returned: Any, count: int) -> list[np.ndarray]:
    arrays = [np.asarray(part) for part in (returned if isinstance(returned, tuple) else (returned,))]
    if any(array.ndim == 0 or len(array) != count for array in arrays):
        raise DpauditError(f"a subject with `trials` must return arrays whose first axis is the trials ({count})")
    return arrays


def as_row(returned: Any) -> np.ndarray:
    """A number, text, array, None or a tuple of them as numbers; texts by a checksum, None as NaN-free flags."""
    returned = _listed(returned)
    parts = returned if isinstance(returned, tuple | list) else (returned,)
    return np.concatenate([_part(part) for part in parts]) if parts else np.zeros(0)


def _listed(value: Any) -> Any:
    """A dict as the list of its values, a set as the list of its members, each in an order of its own."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value, key=repr)]
    return sorted(value, key=repr) if isinstance(value, set | frozenset) else value


def _part(value: Any) -> np.ndarray:
    value = _listed(value)
    if value is None:
        return np.array([0.0, 1.0])
    if isinstance(value, str | bytes):
        data = value.encode(errors="surrogatepass") if isinstance(value, str) else value
        return np.array([float(zlib.crc32(data)), 2.0])
    if isinstance(value, tuple | list) and any(_special(part) for part in value):
        return np.concatenate([_part(part) for part in value])
    if isinstance(value, int):
        return np.array([_as_float(value), 0.0])
    if np.ndim(value) == 0 and not isinstance(value, np.ndarray):
        return np.array([float(_numbers(np.asarray(value)).ravel()[0]), 0.0])
    return _numbers(np.asarray(value)).ravel()


def _special(value: Any) -> bool:
    """Does an array of numbers not hold it?"""
    inside = isinstance(value, str | bytes | tuple | list | dict | set | frozenset)
    return value is None or inside or (isinstance(value, int) and abs(value) > EXACT)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _numbers(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "biuf":
        return array.astype(float)
    if array.dtype.kind in "US":
        return np.array([float(zlib.crc32(str(v).encode(errors="surrogatepass"))) for v in array.ravel()]).reshape(array.shape)
    one = array.dtype.kind == "O" and array.ndim == 0
    what = type(array.item()).__name__ if one else f"an array of {array.dtype}"
    raise DpauditError(f"a subject returned {what}; it may return {ALLOWED}")


def _lost(array: np.ndarray) -> np.ndarray | None:
    """Per entry: is it −0, and what are the last eleven bits of a whole number beyond 2^53? None where there is neither."""
    if array.dtype.kind == "f":
        zero = array == 0
        lost = (zero & np.signbit(array)).astype(np.int64) if zero.any() else None
    elif array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        large = (array > EXACT) | (array < -EXACT) if array.dtype.kind == "i" else array > EXACT
        lost = np.where(large, array % 2048 + 1, 0).astype(np.int64) if large.any() else None
    else:
        return None
    return lost if lost is not None and lost.any() else None
