"""Columns of a table: what is declared of each, and how a pandas, polars or plain column is read accordingly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue, exact, float_down, float_up
from dpaudit.sealed.array import Sealed, seal_declared, seal_whole, snap

_FORM = "(low, high), (low, high, None) where numbers may be missing, or the list of values, with None where they may be"


@dataclass(frozen=True)
class Numbers:
    """Numbers in [low, high]; others are brought to the nearer end, and missing ones, unless declared, to the lower end."""

    low: float
    high: float
    missing: bool = False

    def read(self, column: Any, name: str) -> tuple[np.ndarray, np.ndarray | None]:
        """The numbers on the grid, and which of them are there."""
        raw = _floats(column, name)
        return snap(raw, self.low, self.high), ~np.isnan(raw) if self.missing else None

    def seal(self, values: np.ndarray, *, removal: bool) -> Sealed:
        return seal_declared(values, self.low, self.high, removal=removal)


@dataclass(frozen=True)
class Categories:
    """Values of a public list, held as places in it; any other counts as missing where that is declared, else as the first."""

    values: tuple[Any, ...]
    missing: bool = False

    def read(self, column: Any, name: str) -> tuple[np.ndarray, np.ndarray | None]:
        """The places in the list, and which values are in it."""
        places = {value: place for place, value in enumerate(self.values)}
        found = [places.get(_plain(one), -1) for one in _entries(column)]
        codes = np.array(found, dtype=np.int64)
        return np.maximum(codes, 0), codes >= 0 if self.missing else None

    def seal(self, values: np.ndarray, *, removal: bool) -> Sealed:
        return seal_whole(values, 0, len(self.values) - 1, removal=removal)


Column = Numbers | Categories


def read_bounds(bounds: Any) -> dict[str, Column]:
    """What is declared of each column. Raises InvalidValue."""
    if not isinstance(bounds, Mapping) or not bounds:
        raise InvalidValue("bounds", type(bounds).__name__, 'a dict such as {"age": (0, 120), "city": ["Paris", "Rome"]}')
    return {str(name): _column(str(name), declared) for name, declared in bounds.items()}


def _column(name: str, declared: Any) -> Column:
    if isinstance(declared, tuple) and len(declared) in (2, 3) and declared[2:] in ((), (None,)):
        low, high = float_up(exact(declared[0], "low")), float_down(exact(declared[1], "high"))
        snap(np.zeros(0), low, high)  # raises InvalidValue
        return Numbers(low, high, len(declared) == 3)
    if isinstance(declared, list) and declared:
        values = tuple(_plain(value) for value in declared if value is not None)
        if values and len(set(values)) == len(values):
            return Categories(values, None in declared)
    raise InvalidValue(f"bounds of {name!r}", type(declared).__name__, _FORM)


def raw_columns(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """These columns of a pandas or polars frame, or of a dict of lists. Raises InvalidValue for one that is not there."""
    known = set(frame) if isinstance(frame, Mapping) else {str(name) for name in getattr(frame, "columns", ())}
    absent = [name for name in names if name not in known]
    if absent:
        raise InvalidValue("bounds", absent[0], "a column of the frame")
    columns = {name: frame[name] for name in names}
    if len({len(column) for column in columns.values()}) != 1:
        raise InvalidValue("frame", "columns of several lengths", "as many entries in every column")
    return columns


def _floats(column: Any, name: str) -> np.ndarray:
    """As floats, NaN where there is none. A message of pandas could hold a private value, so it is not shown."""
    try:
        if hasattr(column, "dtype") and hasattr(column, "isna"):  # pandas
            raw = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            raw = column.to_numpy() if hasattr(column, "to_numpy") else np.array(column, dtype=float)
        if raw.dtype.kind in "biuf":
            return np.asarray(raw, dtype=float)
    except (TypeError, ValueError):
        pass
    raise InvalidValue("frame", f"a column {name!r} of something else than numbers", "numbers; or list its values in bounds")


def _entries(column: Any) -> list[Any]:
    for method in ("to_list", "tolist"):
        if hasattr(column, method):
            entries: list[Any] = getattr(column, method)()
            return entries
    return list(column)


def _plain(value: Any) -> Any:
    """One that a dict finds: numpy's scalars as Python's, and nothing else than texts, numbers and dates."""
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        hash(plain)
    except TypeError:
        return None
    return plain
