"""Neighbouring tables with named columns: numbers in a range, categories of a list, missing entries where they are declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.sealed.frames.columns import Categories, Column, Numbers
from dpaudit.sealed.frames.frame import Frame, SealedFrame, plain_frame, seal_declared_frame

Row = dict[str, Any]


@dataclass(frozen=True)
class Frames:
    """n records with these columns; a neighbour has one other record or, with ``removal``, lacks one."""

    n: int
    declared: tuple[tuple[str, Column], ...]
    removal: bool

    @property
    def name(self) -> str:
        return "add_remove" if self.removal else "replace_one"

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return dict(self.declared)

    def pairs(self, rng: np.random.Generator) -> list[tuple[Frame, Frame]]:
        """The one record at the lower ends against the upper ends, in turn, and missing, among records of four kinds."""
        low, high = self._row(0), self._row(-1)
        turns = [{name: (low, high)[(place + k) % 2][name] for place, name in enumerate(low)} for k in (0, 1)]
        changes = [(low, high), (turns[0], turns[1])]
        if any(column.missing for column in self.columns.values()):
            changes.append(({name: None if self.columns[name].missing else low[name] for name in low}, high))
        crowds = [[low] * self.n, [high] * self.n, [self._drawn(rng) for _ in range(self.n)]]
        places = sorted({0, self.n - 1})
        return [self._pair(crowd, place, *ends) for ends in changes for crowd in crowds for place in places]

    def others(self, rng: np.random.Generator) -> list[Frame]:
        return [self._frame([self._drawn(rng) for _ in range(self.n)]) for _ in range(2)]

    def seal(self, data: Any) -> SealedFrame:
        sealed = seal_declared_frame(data, self.columns, removal=self.removal)
        if not self.removal and len(sealed) != self.n:
            raise InvalidValue("data", f"of {len(sealed)} records", f"of {self.n}, as its neighbours declare")
        return sealed

    def _row(self, end: int) -> Row:
        row: Row = {}
        for name, column in self.columns.items():
            row[name] = column.values[end] if isinstance(column, Categories) else (column.low, column.high)[end]
        return row

    def _drawn(self, rng: np.random.Generator) -> Row:
        return {name: _draw(column, rng) for name, column in self.columns.items()}

    def _pair(self, crowd: list[Row], place: int, one: Row, other: Row) -> tuple[Frame, Frame]:
        first, second = [*crowd[:place], one, *crowd[place + 1 :]], [*crowd[:place], other, *crowd[place + 1 :]]
        if self.removal:
            return self._frame(second), self._frame([*crowd[:place], *crowd[place + 1 :]])
        return self._frame(first), self._frame(second)

    def _frame(self, rows: list[Row]) -> Frame:
        return plain_frame({name: [_number(row[name]) for row in rows] for name in self.columns}, self.columns)


def _number(entry: Any) -> Any:
    """A missing number is NaN, which is none of the listed values either."""
    return float("nan") if entry is None else entry


def _draw(column: Column, rng: np.random.Generator) -> Any:
    if column.missing and rng.random() < 0.2:
        return None
    if isinstance(column, Numbers):
        return float(rng.uniform(column.low, column.high))
    return column.values[int(rng.integers(len(column.values)))]
