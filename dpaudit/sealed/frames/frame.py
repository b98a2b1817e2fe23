"""``dp.seal_frame``: a table of private records, with the part of pandas whose dependence on each record is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from dpaudit.claims import InvalidValue, Leak
from dpaudit.claims.errors import bare
from dpaudit.sealed.array import Sealed, seal_whole
from dpaudit.sealed.callers import caller
from dpaudit.sealed.frames.columns import Categories, Column, raw_columns, read_bounds
from dpaudit.sealed.frames.groups import GroupBy
from dpaudit.sealed.frames.rewrites import NotTraced, not_traced
from dpaudit.sealed.frames.series import Series
from dpaudit.sealed.runs import current_run

_INSIDE = (
    "dp.seal_frame inside the subject: its bounds are only declared; those of neighbours=dp.replace_one(n, bounds=…) are not"
)
_ROWS = "release frame[column].count() instead"


class Frame:
    """A table as a subject sees it. Plain numbers behind it go through the same code as sealed ones.

    ``kept``: which records a filter kept, None for all.
    """

    def __init__(self, columns: Mapping[str, Series], kept: Any = None) -> None:
        self._columns, self._kept = dict(columns), kept

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __len__(self) -> int:
        if self._kept is not None:
            raise Leak("how many rows a filter leaves", caller(), _ROWS)
        return len(next(iter(self._columns.values())))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self._columns)

    def __deepcopy__(self, _: Any) -> Frame:
        return self  # nothing changes it

    def __repr__(self) -> str:
        return f"<a frame with the columns {', '.join(self._columns)}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._columns:
            return self._columns[name]
        raise not_traced(name)

    def __getitem__(self, key: Any) -> Any:
        """A column, several of them, or the rows that a condition keeps: private ones stay in their place."""
        if isinstance(key, str):
            if key not in self._columns:
                raise InvalidValue("column", key, f"one of {', '.join(self._columns)}; others were not sealed: give their bounds")
            return self._columns[key]
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self._with({name: self[name] for name in key}, self._kept)
        if isinstance(key, Series):
            return self._filtered(key)
        public = np.asarray(key) if isinstance(key, list | np.ndarray) else key
        if isinstance(public, slice) or (isinstance(public, np.ndarray) and public.dtype == bool and self._kept is None):
            return self._with({name: _chosen_rows(column, public) for name, column in self._columns.items()}, None)
        raise not_traced("[…]", " by something else than a column, a condition of its columns, or a public list of truth values")

    def __setitem__(self, name: str, column: Any) -> None:
        raise NotTraced("assignment to a column", caller(), f"frame = frame.assign({name}=…) gives a new one")

    def _filtered(self, condition: Series) -> Self:
        if condition.kept is not None and condition.kept is not self._kept:
            raise InvalidValue("condition", "of another filtered frame", "made from the columns of this one")
        if condition.categories is not None or condition.present is not None:
            raise InvalidValue("condition", "not a truth value for every record", "a comparison such as frame['age'] > 30")
        kept = condition.values if self._kept is None else self._kept & condition.values
        columns = {name: Series(one.values, one.present, kept, one.categories) for name, one in self._columns.items()}
        return self._with(columns, kept)

    def _with(self, columns: Mapping[str, Series], kept: Any) -> Self:
        return type(self)(columns, kept)

    @property
    def loc(self) -> _Located:
        return _Located(self)

    def assign(self, **columns: Series | Callable[[Frame], Series]) -> Self:
        """With these columns besides, or in the place of those of the same name."""
        made = {name: column(self) if callable(column) else column for name, column in columns.items()}
        if not all(isinstance(column, Series) and column.kept is self._kept for column in made.values()):
            raise InvalidValue("assign", "something else", "columns computed from those of this frame")
        return self._with({**self._columns, **made}, self._kept)

    def drop(self, *, columns: str | Sequence[str]) -> Self:
        gone = {columns} if isinstance(columns, str) else set(columns)
        return self._with({name: column for name, column in self._columns.items() if name not in gone}, self._kept)

    def fillna(self, value: Any) -> Self:
        """Missing entries of all numbers by one value, or of each column by its own."""
        values = value if isinstance(value, Mapping) else {n: value for n, one in self._columns.items() if one.categories is None}
        filled = {name: one.fillna(values[name]) if name in values else one for name, one in self._columns.items()}
        return self._with(filled, self._kept)

    def groupby(self, by: str | list[str], *, observed: bool = False, sort: bool = True) -> GroupBy:
        """Groups by listed values, one for each value of the list, whether it occurs or not."""
        if observed:
            raise Leak("which groups occur", caller(), "observed=False has one entry for every listed value")
        names = [by] if isinstance(by, str) else list(by)
        return GroupBy({name: self[name] for name in names}, self._columns)

    def merge(self, table: Any, *, on: str, how: str = "left") -> Self:
        """Columns of a public table, found by a column with listed values; ``inner`` drops records that it has no row for."""
        key = self[on]
        if key.categories is None or how not in ("left", "inner"):
            raise not_traced("merge", " on numbers, or other than how='left' or 'inner'")
        names = [str(name) for name in (table if isinstance(table, Mapping) else table.columns)]
        if isinstance(table, Frame):
            raise not_traced("merge", " of two private frames")
        rows = {name: list(column) for name, column in raw_columns(table, names).items()}
        if len(set(rows.get(on, []))) != len(rows.get(on, [0])):
            raise InvalidValue(
                "table", "without a row of its own for each key", f"a public table with every value of {on!r} once"
            )
        added = {name: key.map(dict(zip(rows[on], rows[name], strict=True))) for name in names if name != on}
        merged = self._with({**self._columns, **added}, self._kept)
        return merged[merged[on].isin(rows[on])] if how == "inner" else merged

    def to_numpy(self) -> Any:
        """The numbers of all columns, one row for each record."""
        return np.stack([column.to_numpy() for column in self._columns.values()], axis=1)

    def records(self) -> list[tuple[Any, ...]]:
        """Every record of data that an audit made up, for people. Sealed data has none to show."""
        return list(zip(*(_shown(column) for column in self._columns.values()), strict=True))


class SealedFrame(Frame):
    """A table of private records."""

    def records(self) -> list[tuple[Any, ...]]:
        raise Leak("its records", caller())

    def __reduce_ex__(self, _: Any) -> Any:
        raise Leak("pickling", caller())


class _Located:
    """``frame.loc[condition, column]``."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        rows, column = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        frame = self._frame if isinstance(rows, slice) and rows == slice(None) else self._frame[rows]
        return frame if column is None else frame[column]


@bare
def seal_frame(frame: Any, bounds: Mapping[str, Any], *, removal: bool = False) -> SealedFrame:
    """Seal a table of one record a row: a pandas or polars frame, or a dict of lists.

    ``bounds`` says of each column that may be used what its entries are: ``(low, high)`` for numbers, ``(low, high, None)`` where
    they may be missing, a list of values for categories, with None in it where they may be missing. Numbers outside are brought
    to the nearer end, and missing ones of a column that has none to the lower end; other categories count as missing, or as the
    first. No message tells of it. ``removal``: a neighbour lacks a record, so their number is private.
    """
    sealed = _read(SealedFrame, frame, read_bounds(bounds), lambda column, values: column.seal(values, removal=removal), removal)
    if current_run() is None:
        return sealed
    return SealedFrame({name: _untraced(column) for name, column in sealed._columns.items()})


def seal_declared_frame(frame: Any, declared: Mapping[str, Column], *, removal: bool) -> SealedFrame:
    """The same for the bounds that a declaration of neighbours gives; also of a plain frame that an audit made up."""

    def seal(column: Column, values: np.ndarray) -> Sealed:
        return column.seal(values, removal=removal)

    if not isinstance(frame, Frame):
        return _read(SealedFrame, frame, declared, seal, removal)
    sealed = {
        name: Series(seal(spec, frame[name].values), _seal_truth(frame[name].present, removal), None, frame[name].categories)
        for name, spec in declared.items()
    }
    return SealedFrame(sealed)


def plain_frame(frame: Any, declared: Mapping[str, Column]) -> Frame:
    """Data that an audit made up, as a subject sees it."""
    return _read(Frame, frame, declared, lambda _, values: values, None)


def _read(kind: Any, frame: Any, declared: Mapping[str, Column], seal: Callable[[Column, Any], Any], removal: bool | None) -> Any:
    columns = {}
    for name, column in raw_columns(frame, list(declared)).items():
        values, present = declared[name].read(column, name)
        there = present if removal is None else _seal_truth(present, removal)
        spec = declared[name]
        columns[name] = Series(seal(spec, values), there, None, spec.values if isinstance(spec, Categories) else None)
    return kind(columns)


def _seal_truth(present: np.ndarray | None, removal: bool) -> Sealed | None:
    return None if present is None else seal_whole(present, 0, 1, removal=removal)


def _untraced(column: Series) -> Series:
    values, present = (
        None if part is None else Sealed(part._private.lost(_INSIDE, part._private.value))
        for part in (column.values, column.present)
    )
    return Series(values, present, None, column.categories)


def _chosen_rows(column: Series, rows: Any) -> Series:
    return Series(column.values[rows], None if column.present is None else column.present[rows], None, column.categories)


def _shown(column: Series) -> list[Any]:
    listed = column.values.tolist() if column.categories is None else [column.categories[code] for code in column.values]
    there = [True] * len(listed) if column.present is None else column.present.tolist()
    return [entry if present else None for entry, present in zip(listed, there, strict=True)]
