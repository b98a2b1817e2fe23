"""Neighbouring data whose records come from a list: integers, categories, texts, rows of a table.

What a subject is handed depends on the list alone:
- numbers (or booleans): a one-dimensional array; of integers or booleans where all are, else of floats on the grid 2^-20;
- rows of as many numbers each (tuples, lists): a two-dimensional array with one row per record, likewise;
- texts: a list of them, which compares with a text entry by entry, as an array does;
- anything else (None, rows of mixed values, dicts): a list of the records as they were written.

Numbers are sealed between the least and the greatest of them, so that what a trace proves still certifies; a list that holds NaN
or an infinity is sealed as numbers of which nothing is known. Texts are sealed as places in the list; rows and dicts with the
same fields each, field by field, where their number is public. Others are not sealed: they can be attacked, but not proven.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Any

import numpy as np

from dpaudit.neighbours.categories import Texts, seal_texts
from dpaudit.neighbours.mixed_records import seal_records
from dpaudit.neighbours.tables import MADE
from dpaudit.sealed.array import seal_declared, seal_raw, seal_whole, snap

Pair = tuple[Any, Any]
LARGEST = 2.0**32  # of a number that can be sealed
OWN, MORE = 12, 200  # changes of one record that are tried on one background, and in all for a black box


@dataclass(frozen=True)
class Values:
    """n records from a list; a neighbour has one other record of it or, with ``removal``, lacks one."""

    n: int
    values: tuple[Any, ...]
    removal: bool

    @property
    def name(self) -> str:
        return "add_remove" if self.removal else "replace_one"

    @cached_property
    def table(self) -> np.ndarray | None:
        """The values as an array, one record each; None where they are not all numbers, or rows of as many."""
        rows = [one if isinstance(one, tuple | list | np.ndarray) else (one,) for one in self.values]
        plain = all(_is_number(one) for row in rows for one in row) and len({len(row) for row in rows}) == 1
        shapes = {isinstance(one, tuple | list | np.ndarray) for one in self.values}
        if not plain or len(shapes) != 1 or not len(rows[0]):
            return None
        table = np.array([[_plain(one) for one in row] for row in rows])
        if table.dtype.kind not in "biuf":  # whole numbers beyond 64 bits
            return None
        return table if shapes == {True} else table[:, 0]

    @cached_property
    def texts(self) -> bool:
        """Is every value a text?"""
        return all(isinstance(one, str) for one in self.values)

    @cached_property
    def ends(self) -> tuple[Any, Any] | None:
        """Bounds to seal with, one for each column of a table; None where there are none."""
        if self.table is None or not np.isfinite(self.table).all() or float(np.abs(self.table).max()) > LARGEST:
            return None
        low, high = (np.asarray(end, float) for end in (self.table.min(axis=0), self.table.max(axis=0)))
        alone = low == high  # one value only, which may be missing: any wider range serves
        return np.where(alone, np.minimum(low, 0.0), low), np.where(alone, np.maximum(high, 0.0) + (high == 0) * alone, high)

    def data(self, places: Sequence[int] | np.ndarray) -> Any:
        """The data set that holds these values, by their place in the list."""
        if self.table is None:
            records = [self.values[place] for place in places]
            return Texts(records) if self.texts else records
        chosen = self.table[np.asarray(places, dtype=int)]
        return snap(chosen, *self.ends) if chosen.dtype.kind == "f" and self.ends is not None else chosen

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        """The furthest changes of the one record, among records like it, like its neighbour's, and mixed."""
        return [self._pair(*site) for site in self._sites(rng, self._changes()[:OWN])]

    def more_pairs(self, rng: np.random.Generator) -> list[Pair]:
        """Every other change, as far as there is room; for black boxes."""
        changes = self._changes()[OWN : OWN + MORE]
        sites = list(self._sites(rng, changes))
        return [self._pair(*site) for site in sites[: max(MADE // max(self.n, 1), 1)][:MORE]]

    def _changes(self) -> list[tuple[int, int]]:
        """Places of two values, most different first, not too many; with ``removal``, of the one record that may be missing."""
        if self.removal:
            return [(place, place) for place in self._order()][: OWN + MORE]
        order = self._order()
        ends = [(order[k], order[-1 - k]) for k in range(len(order) // 2)]
        others = islice(combinations(order, 2), len(ends) + OWN + MORE)  # of a long list, a few
        return list(dict.fromkeys([*ends[: OWN + MORE], *others]))[: OWN + MORE]

    def _order(self) -> list[int]:
        """Numbers by their size, as far as they have one: odd ones first, where bugs are."""
        if self.table is None or self.table.ndim != 1:
            return list(range(len(self.values)))
        size = self.table.astype(float)
        order = [int(place) for place in np.argsort(size, kind="stable")]
        if self.removal:  # the furthest from zero first
            order.sort(key=lambda place: -abs(size[place]) if math.isfinite(size[place]) else -math.inf)
        return sorted(order, key=lambda place: math.isfinite(size[place]))

    def _sites(self, rng: np.random.Generator, changes: Sequence[tuple[int, int]]) -> Iterator[tuple[np.ndarray, int, int, int]]:
        """A background, a place, and the two values there."""
        count, places = len(self.values), sorted({0, self.n // 2, self.n - 1})
        for number, (one, other) in enumerate(changes):
            crowds = [np.full(self.n, other), np.full(self.n, one), rng.permutation(np.arange(self.n) % count)]
            for background, crowd in enumerate(crowds[1:] if one == other else crowds):
                yield crowd, places[(number + background) % len(places)], one, other

    def _pair(self, crowd: np.ndarray, place: int, one: int, other: int) -> Pair:
        first, second = crowd.copy(), crowd.copy()
        first[place], second[place] = one, other
        return self.data(first), self.data(np.delete(first, place) if self.removal else second)

    def others(self, rng: np.random.Generator) -> list[Any]:
        count = len(self.values)
        return [self.data(rng.integers(count, size=self.n)), self.data(np.full(self.n, int(rng.integers(count))))]

    def seal(self, data: Any) -> Any:
        """None for records that cannot be sealed."""
        if self.texts:
            return seal_texts(data, self.values, removal=self.removal)
        if self.table is None:
            return None if self.removal else seal_records(data, self.values, _seal_field)
        if self.ends is not None and self.table.dtype == bool:
            return seal_whole(np.asarray(data) != 0, *self.ends, removal=self.removal)
        if self.ends is not None:
            seal = seal_whole if self.table.dtype == np.int64 else seal_declared
            return seal(data, *self.ends, removal=self.removal)
        odd = self.table.ndim == 1 and not np.isfinite(self.table).all()
        return seal_raw(data, removal=self.removal) if odd else None

    @property
    def strategy(self) -> Any:
        """A Hypothesis strategy of pairs: two values in the crowd, and the one record."""
        from hypothesis import strategies as st

        def pair(a: int, b: int, split: int, place: int, one: int, other: int) -> Pair:
            return self._pair(np.where(np.arange(self.n) < split, a, b), place, one, other)

        value = st.integers(0, len(self.values) - 1)
        return st.builds(pair, value, value, st.integers(0, self.n), st.integers(0, self.n - 1), value, value)


def _seal_field(data: Sequence[Any], values: Sequence[Any]) -> Any:
    """One field of all records, sealed by the values that it has in the list; None if they are neither numbers nor texts."""
    column = Values(len(data), tuple(values), removal=False)
    return column.seal(list(data)) if column.texts or column.table is not None else None


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | np.bool_ | numbers.Real) and not isinstance(value, str)


def _plain(value: Any) -> Any:
    """A number as numpy holds it: fractions and the like as floats."""
    return value if isinstance(value, bool | int | float | np.generic) else float(value)
