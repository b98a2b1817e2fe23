"""One column: what pandas calls a Series, for private numbers and categories, and for plain ones by the same code.

A filter by a private condition keeps every record in its place and remembers who is kept; a missing number is one that is not
there. Sums and counts leave both out, so that they depend on each record in a way that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpaudit.claims import InvalidValue, Leak
from dpaudit.sealed.array import Sealed
from dpaudit.sealed.callers import caller
from dpaudit.sealed.frames.rewrites import not_traced

_ROWS = "release .count() of the filtered rows instead"


class Series(NDArrayOperatorsMixin):
    """``values``: numbers, or places in the public list ``categories``; ``present``: which are not missing, None for all;
    ``kept``: which records a filter kept, None for all."""

    __slots__ = ("categories", "kept", "present", "values")

    def __init__(self, values: Any, present: Any = None, kept: Any = None, categories: tuple[Any, ...] | None = None) -> None:
        self.values, self.present, self.kept, self.categories = values, present, kept, categories

    # What nobody may know.
    def __len__(self) -> int:
        if self.kept is not None:
            raise Leak("how many rows a filter leaves", caller(), _ROWS)
        return len(self.values)

    def __iter__(self) -> NoReturn:
        raise not_traced("items", " one by one")

    def __bool__(self) -> NoReturn:
        raise Leak("a branch", caller(), "combine conditions with &, | and ~, and use them as filters")

    def __repr__(self) -> str:
        return "<a private column>" if isinstance(self.values, Sealed) else f"<a column of {len(self.values)} records>"

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise not_traced("__array__", " (conversion to a plain array)")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise not_traced(name)

    # Entry by entry.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise not_traced(f"{ufunc.__name__}.{method}")
        columns = [one for one in inputs if isinstance(one, Series)]
        if any(one.categories is not None for one in columns):
            return self._compare_categories(ufunc, inputs)
        result = ufunc(*(one.values if isinstance(one, Series) else one for one in inputs))
        present, kept = _both([one.present for one in columns]), _same_rows(columns)
        if present is not None and ufunc in _COMPARISONS:  # nothing compares with what is missing, except by !=
            result, present = (result | ~present if ufunc is np.not_equal else result & present), None
        return Series(result, present, kept)

    def _compare_categories(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Series:
        """A list of categories compares with one of its values, or with a column of the same list."""
        one, other = inputs if isinstance(inputs[0], Series) and inputs[0].categories is not None else reversed(inputs)
        if ufunc not in (np.equal, np.not_equal):
            raise not_traced(ufunc.__name__, " of categories")
        if isinstance(other, Series):
            if other.categories != one.categories:
                raise not_traced("==", " of columns with other lists of values")
            code, present = other.values, _both([one.present, other.present])
        else:
            code, present = one._code(other), one.present
        equal = one.values == code
        equal = equal if present is None else equal & present
        kept = _same_rows([each for each in (one, other) if isinstance(each, Series)])
        return Series(equal if ufunc is np.equal else ~equal, None, kept)

    def _code(self, value: Any) -> int:
        assert self.categories is not None
        return self.categories.index(value) if value in self.categories else -1

    def _like(self, values: Any, present: Any = None, categories: tuple[Any, ...] | None = None) -> Series:
        return Series(values, present, self.kept, categories)

    def clip(self, lower: Any = None, upper: Any = None) -> Series:
        """Numbers brought into [lower, upper]."""
        self._numbers("clip")
        low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
        return self._like(np.clip(self.values, low, high), self.present)

    def abs(self) -> Series:
        self._numbers("abs")
        return self._like(np.abs(self.values), self.present)

    def round(self, decimals: int = 0) -> Series:
        self._numbers("round")
        return self._like(np.round(self.values, decimals), self.present)

    def astype(self, kind: Any) -> Series:
        self._numbers("astype")
        return self._like(self.values.astype(kind), self.present)

    def fillna(self, value: Any) -> Series:
        """``value`` where one is missing."""
        if self.present is None:
            return self
        if self.categories is None:
            return self._like(np.where(self.present, self.values, value))
        if value not in self.categories:
            raise InvalidValue("fillna", "a value that is not listed", "one of the column's values")
        return self._like(np.where(self.present, self.values, self._code(value)), None, self.categories)

    def isna(self) -> Series:
        return self._like(_nobody(self.values) if self.present is None else ~self.present)

    def notna(self) -> Series:
        return self._like(~_nobody(self.values) if self.present is None else self.present)

    isnull, notnull = isna, notna

    def isin(self, values: Collection[Any]) -> Series:
        """Which entries are one of these public values."""
        wanted = [self._code(value) for value in values] if self.categories is not None else list(values)
        found = np.isin(self.values, wanted)
        return self._like(found if self.present is None else found & self.present)

    def between(self, left: Any, right: Any) -> Series:
        """left ≤ x ≤ right."""
        return (self >= left) & (self <= right)

    def where(self, condition: Series, other: Any = 0) -> Series:
        """The entry where the condition holds, else ``other``."""
        self._numbers("where")
        columns = [self, condition, *([other] if isinstance(other, Series) else [])]
        chosen = np.where(condition.values, self.values, other.values if isinstance(other, Series) else other)
        if any(column.present is not None for column in columns):
            raise not_traced("where", " of columns with missing values (fillna first)")
        return Series(chosen, None, _same_rows(columns))

    def map(self, mapping: Mapping[Any, Any]) -> Series:
        """Another public value for each listed one; missing where the mapping has none."""
        if self.categories is None or not isinstance(mapping, Mapping):
            raise not_traced("map", " of numbers, or by a function")
        has = [value in mapping for value in self.categories]
        results = [mapping[value] for value in self.categories if value in mapping]
        numbers = all(isinstance(one, bool | int | float | np.number) for one in results)
        listed = tuple(dict.fromkeys(results))
        targets = [
            (mapping[value] if numbers else listed.index(mapping[value])) if value in mapping else 0 for value in self.categories
        ]
        present = self.present if all(has) else _both([self.present, _chosen(self.values, has)])
        values = _chosen(self.values, [float(one) for one in targets] if numbers else targets)
        return self._like(values, present, None if numbers else listed)

    # Over records.
    @property
    def active(self) -> Any:
        """Which entries count: kept by the filter and not missing; None for all."""
        return _both([self.kept, self.present])

    def sum(self) -> Any:
        """The sum of the entries that are kept and there."""
        self._numbers("sum")
        active = self.active
        return self.values.sum() if active is None else np.where(active, self.values, 0).sum()

    def count(self) -> Any:
        """How many entries are kept and there."""
        active = self.active
        return (np.isfinite(self.values) if active is None else active).sum()

    def mean(self) -> Any:
        """The mean of all records; of a part of them it is a quotient of two private numbers, which nothing traces."""
        self._numbers("mean")
        if self.active is not None:
            raise not_traced("mean", " of filtered rows, or of a column with missing values,")
        return self.values.mean()

    def value_counts(self, *, sort: bool = False, normalize: bool = False) -> Any:
        """How often each listed value occurs, in the order of the list."""
        if normalize:
            raise not_traced("value_counts", "(normalize=True)")
        if self.categories is None:
            raise not_traced("value_counts", " of numbers (list the values in bounds)")
        if sort:
            raise Leak("the order of the counts", caller(), "sort what the channel returns")
        return grouped_count(self.values, self.active, len(self.categories))

    def to_numpy(self) -> Any:
        """The sealed numbers, one for each record."""
        self._numbers("to_numpy")
        if self.active is not None:
            raise not_traced("to_numpy", " of filtered rows, or of a column with missing values (fillna first),")
        return self.values

    def _numbers(self, method: str) -> None:
        if self.categories is not None:
            raise not_traced(method, " of categories")


def grouped_count(codes: Any, active: Any, length: int) -> Any:
    """How many records have each code."""
    if active is None:
        return np.bincount(codes, minlength=length)
    return np.bincount(codes, weights=active.astype(float), minlength=length)


def _chosen(codes: Any, results: Sequence[Any]) -> Any:
    """What each code stands for."""
    chosen: Any = results[0]
    for place, result in enumerate(results[1:], start=1):
        chosen = np.where(codes == place, result, chosen)
    return (
        chosen if len(results) > 1 else codes * 0 + results[0] if not isinstance(results[0], bool) else (codes >= 0) == results[0]
    )


def _nobody(values: Any) -> Any:
    """A condition that no record fulfils."""
    return values != values


def _both(conditions: Sequence[Any]) -> Any:
    """All of them; None stands for one that always holds."""
    given = [condition for condition in conditions if condition is not None]
    if not given:
        return None
    held = given[0]
    for condition in given[1:]:
        held = held if condition is held else held & condition
    return held


def _same_rows(columns: Sequence[Series]) -> Any:
    """The filter that these columns share. Raises InvalidValue where they went through different ones."""
    kept = columns[0].kept
    if any(column.kept is not kept for column in columns):
        raise InvalidValue("columns", "of different filters", "taken from one filtered frame: part = frame[condition]")
    return kept


_COMPARISONS: frozenset[Callable[..., Any]] = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
)
