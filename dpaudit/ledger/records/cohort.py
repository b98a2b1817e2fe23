"""Whose data a release touches: everybody, ranges of integers (rounds, clients) or named pseudonyms."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.ledger.errors import InvalidRecord

Interval = tuple[int, int]

LARGEST = 2**63 - 1
_FORMS = "None, a range or slice, an integer, a text, or a list, set or array of integers, ranges and texts"


@dataclass(frozen=True)
class Cohort:
    """A set of records. ``everyone``: all records, named or not; else sorted disjoint [start, stop) and ids.

    Integers and texts are different records: 7 and "7" are two people. Both are written to the ledger: texts
    must be pseudonyms.
    """

    everyone: bool = False
    intervals: tuple[Interval, ...] = ()
    ids: frozenset[str] = frozenset()

    @classmethod
    def all(cls) -> Cohort:
        return _EVERYONE

    @classmethod
    def one_range(cls, interval: Interval) -> Cohort:
        """[start, stop), not empty: quickly, as opening a ledger makes a million of them. The rest has its default."""
        made = object.__new__(cls)
        _put(made, "intervals", (interval,))
        return made

    @classmethod
    def one_id(cls, name: str) -> Cohort:
        made = object.__new__(cls)
        _put(made, "ids", frozenset((name,)))
        return made

    @classmethod
    def of(cls, records: object = None) -> Cohort:
        """Read a cohort from what callers have at hand; a tuple is refused, as it could mean a range.

        Raises InvalidValue for anything else; the message names the type, never the records.
        """
        if records is None:
            return cls.all()
        if isinstance(records, Cohort):
            return records
        if isinstance(records, str):
            return cls(ids=frozenset((records,)))
        if isinstance(records, bool | np.bool_):
            raise InvalidValue("cohort", "bool", _FORMS)
        if isinstance(records, int | np.integer):
            return cls._ranges([(int(records), int(records) + 1)])
        if isinstance(records, range):
            ends = [(records.start, records.stop)] if records.step == 1 else [(r, r + 1) for r in records]
            return cls._ranges(ends)
        if isinstance(records, slice):
            return cls._of_slice(records)
        if isinstance(records, np.ndarray):
            return cls._array(records)
        if isinstance(records, list | set | frozenset):
            return cls._collection(records)
        raise InvalidValue("cohort", type(records).__name__, _FORMS)

    @classmethod
    def _of_slice(cls, ends: slice) -> Cohort:
        if not isinstance(ends.start, int) or not isinstance(ends.stop, int) or ends.step not in (None, 1):
            raise InvalidValue("cohort", "slice", _FORMS)
        return cls._ranges([(ends.start, ends.stop)])

    @classmethod
    def _array(cls, records: np.ndarray[Any, Any]) -> Cohort:
        if records.ndim != 1 or records.dtype.kind not in "iuU":
            raise InvalidValue("cohort", f"{records.dtype} array", "a flat array of integers or texts")
        if records.dtype.kind == "U":
            return cls(ids=frozenset(map(str, records)))
        if not len(records):
            return cls()
        numbers = np.unique(records)
        if int(numbers[-1]) >= LARGEST:
            raise InvalidValue("cohort", "integer", "integers below 2^63 - 1")
        numbers = numbers.astype(np.int64)
        breaks = np.flatnonzero(np.diff(numbers) != 1)
        starts = numbers[np.concatenate(([0], breaks + 1))].tolist()
        stops = (numbers[np.concatenate((breaks, [len(numbers) - 1]))] + 1).tolist()
        return cls(intervals=tuple(zip(starts, stops, strict=True)))

    @classmethod
    def _collection(cls, records: Iterable[object]) -> Cohort:
        numbers: list[int] = []
        ranges: list[Interval] = []
        ids: set[str] = set()
        for record in records:
            if isinstance(record, str):
                ids.add(record)
            elif isinstance(record, range):
                ranges.extend(cls.of(record).intervals)
            elif isinstance(record, int | np.integer) and not isinstance(record, bool):
                numbers.append(int(record))
            else:
                raise InvalidValue("cohort", f"list with {type(record).__name__}", _FORMS)
        if any(not -LARGEST <= number < LARGEST for number in numbers):
            raise InvalidValue("cohort", "integer", "integers within 64 bits")
        singles = cls._array(np.array(numbers, dtype=np.int64)).intervals
        return cls._ranges([*singles, *ranges], frozenset(ids))

    @classmethod
    def _ranges(cls, ends: Iterable[Interval], ids: frozenset[str] = frozenset()) -> Cohort:
        merged: list[Interval] = []
        for start, stop in sorted(ends):
            if start < -LARGEST or stop > LARGEST:
                raise InvalidValue("cohort", "integer", "integers within 64 bits")
            if stop <= start:
                continue
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
            else:
                merged.append((start, stop))
        return cls(intervals=tuple(merged), ids=ids)

    @property
    def size(self) -> int | None:
        """How many records; None for everyone, whose number is not public."""
        return None if self.everyone else sum(stop - start for start, stop in self.intervals) + len(self.ids)

    def __contains__(self, record: object) -> bool:
        if self.everyone:
            return isinstance(record, int | str)
        if isinstance(record, str):
            return record in self.ids
        return isinstance(record, int) and any(start <= record < stop for start, stop in self.intervals)

    def union(self, other: Cohort) -> Cohort:
        return Cohort.joined([self, other])

    @classmethod
    def joined(cls, cohorts: Collection[Cohort]) -> Cohort:
        """The union of any number of cohorts, in one pass."""
        if any(cohort.everyone for cohort in cohorts):
            return cls.all()
        ids = frozenset[str]().union(*(cohort.ids for cohort in cohorts if cohort.ids))
        return cls._ranges((interval for cohort in cohorts for interval in cohort.intervals), ids)

    def intersection(self, other: Cohort) -> Cohort:
        if self.everyone:
            return other
        if other.everyone:
            return self
        common: list[Interval] = []
        mine, theirs, i, j = self.intervals, other.intervals, 0, 0
        while i < len(mine) and j < len(theirs):
            start, stop = max(mine[i][0], theirs[j][0]), min(mine[i][1], theirs[j][1])
            if start < stop:
                common.append((start, stop))
            if mine[i][1] <= theirs[j][1]:
                i += 1
            else:
                j += 1
        return Cohort(intervals=tuple(common), ids=self.ids & other.ids)

    def disjoint(self, other: Cohort) -> bool:
        """No record is in both: the condition of parallel composition."""
        return self.intersection(other).size == 0

    def to_json(self) -> Any:
        """null, [[start, stop], …], or both parts when there are ids; one form per set of records."""
        if self.everyone:
            return None
        intervals = [list(interval) for interval in self.intervals]
        return {"ids": sorted(self.ids), "intervals": intervals} if self.ids else intervals

    @classmethod
    def from_json(cls, data: object, line: int | None = None) -> Cohort:
        """Read ``to_json``'s forms, in any order. Raises InvalidRecord."""
        if data is None:
            return _EVERYONE
        if type(data) is list and len(data) == 1 and type(data[0]) is list and len(data[0]) == 2:
            start, stop = data[0]
            if type(start) is int and type(stop) is int and -LARGEST <= start < stop <= LARGEST:
                return cls.one_range((start, stop))
        if isinstance(data, dict) and set(data) <= {"ids", "intervals"}:
            intervals, ids = data.get("intervals", []), data.get("ids", [])
        else:
            intervals, ids = data, []
        right = isinstance(intervals, list) and isinstance(ids, list) and all(type(i) is str for i in ids)
        if not right or not all(_is_interval(pair) for pair in intervals):
            expected = 'null, [[start, stop], …] with start ≤ stop, or {"intervals": …, "ids": […]}'
            raise InvalidRecord("cohort", expected, line)
        return cls._ranges([(start, stop) for start, stop in intervals], frozenset(ids))


_put = object.__setattr__
_EVERYONE = Cohort(everyone=True)


def _is_interval(pair: object) -> bool:
    if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not int or type(pair[1]) is not int:
        return False
    return -LARGEST <= pair[0] <= pair[1] <= LARGEST
