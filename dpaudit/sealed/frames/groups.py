"""``frame.groupby(…)``: sums and counts by listed values, one for each combination of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.sealed.frames.rewrites import not_traced
from dpaudit.sealed.frames.series import Series, _both, grouped_count


class GroupBy:
    """Groups by columns with listed values. A record whose key is missing is in none of them."""

    def __init__(self, by: Mapping[str, Series], columns: Mapping[str, Series], chosen: str | None = None) -> None:
        for name, key in by.items():
            if key.categories is None:
                raise InvalidValue("groupby", name, "a column whose values are listed in bounds")
        self._by, self._columns, self._chosen = dict(by), columns, chosen

    @property
    def keys(self) -> list[Any]:
        """What the entries of a result stand for, in their order: values, or tuples of them for several columns."""
        lists = [key.categories or () for key in self._by.values()]
        return list(lists[0]) if len(lists) == 1 else list(itertools.product(*lists))

    def __getitem__(self, column: str) -> GroupBy:
        if column not in self._columns:
            raise InvalidValue("column", column, f"one of {', '.join(self._columns)}")
        return GroupBy(self._by, self._columns, column)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise not_traced(name, " of groups")

    def sum(self) -> Any:
        """The sum of the column in each group."""
        if self._chosen is None:
            raise InvalidValue("groupby(…).sum", "without a column", "of one column: groupby(…)[column].sum()")
        column = self._columns[self._chosen]
        if column.categories is not None:
            raise not_traced("sum", " of categories")
        active = _both([column.active, self._known()])
        weights = column.values if active is None else np.where(active, column.values, 0)
        return np.bincount(self._codes(), weights=weights, minlength=len(self.keys))

    def count(self) -> Any:
        """How many entries of the column each group has."""
        if self._chosen is None:
            raise InvalidValue("groupby(…).count", "without a column", "of one column: groupby(…)[column].count(), or .size()")
        return self._counted(_both([self._columns[self._chosen].active, self._known()]))

    def size(self) -> Any:
        """How many records each group has."""
        return self._counted(_both([next(iter(self._by.values())).kept, self._known()]))

    def mean(self) -> Any:
        raise not_traced("mean", " of groups")

    def _counted(self, active: Any) -> Any:
        return grouped_count(self._codes(), active, len(self.keys))

    def _known(self) -> Any:
        """Whose keys are all there."""
        return _both([key.present for key in self._by.values()])

    def _codes(self) -> Any:
        """One number for each combination of keys."""
        codes: Any = None
        for key in self._by.values():
            codes = key.values if codes is None else codes * len(key.categories or ()) + key.values
        return codes
