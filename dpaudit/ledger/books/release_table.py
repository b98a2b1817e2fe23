"""The releases of a ledger as a table: a few kinds, and for each release its kind, whose data it is about and its name.

Releases of one kind differ in cohort, name and values alone. Values cost nothing more and are left out, so that a million
releases take some forty megabytes, and whoever accounts for them looks at each kind once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpaudit.ledger.books.packed_texts import PackedTexts
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.entry_frames import Who, as_cohort, in_short
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.spending.budget import Charge

Array: TypeAlias = np.ndarray[Any, Any]

_ID, _COHORT = -1, -2  # in the place of a range's end: the start is then a place in ``ids``, or in ``cohorts``
_AT_ONCE = 2**17  # rows of a run; more take more memory
_WAITING = 8192  # rows that are gathered before they are packed


@dataclass(frozen=True)
class Kind:
    """What releases of a kind share. ``release``: the first of them, without its values; ``charge``: what paid for it."""

    release: Release
    charge: Charge


class ReleaseTable:
    """Rows in the order of storing. ``first`` and ``last`` are a range [first, last); equal: everyone."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._places: dict[tuple[Any, ...], int] = {}
        self._kind, self._first, self._last = array("i"), array("q"), array("q")
        self._names, self.ids, self.cohorts = PackedTexts(), PackedTexts(), list[Cohort]()
        self._waiting: list[tuple[int, int, int, bytes]] = []

    @classmethod
    def of(cls, releases: Iterable[Release]) -> ReleaseTable:
        table = cls()
        for release in releases:
            kind = table.kind_of(release, release.charge())
            table.add(kind, in_short(release.cohort), release.name.encode())
        return table

    def kind_of(self, release: Release, charge: Charge) -> int:
        """The place of its kind, a new one where there is none."""
        key = (*_facts_of(release), charge.epsilon, charge.delta, tuple(charge.facts.items()))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.kinds)
            self.kinds.append(Kind(release.without_values(), charge))
        return place

    def fill(self, columns: Sequence[array[int]], names: PackedTexts, ids: PackedTexts, cohorts: list[Cohort]) -> None:
        """Rows that were read from elsewhere: (kind, first, last). Raises ValueError where they do not belong together."""
        self._kind, self._first, self._last = columns
        self._names, self.ids, self.cohorts = names, ids, cohorts
        kind, first, last = self.columns()
        rows = len(kind)
        if not rows == len(first) == len(last) == len(names) or (rows and not 0 <= kind.min() <= kind.max() < len(self.kinds)):
            raise ValueError
        named, others = first[self.named()], first[self.others()]
        apart = len(self.ranges()) + len(self.everyone()) + len(named) + len(others)
        if (
            apart != rows
            or sorted(named.tolist()) != list(range(len(ids)))
            or sorted(others.tolist()) != list(range(len(cohorts)))
        ):
            raise ValueError

    def add(self, kind: int, who: Who, name: bytes) -> None:
        waiting = self._waiting
        if type(who) is tuple:
            waiting.append((kind, who[0], who[1], name))
        else:
            waiting.append((kind, *self._ends(who), name))
        if len(waiting) >= _WAITING:
            self._pack()

    def _ends(self, who: Who) -> tuple[int, int]:
        if isinstance(who, str):
            self.ids.append(who.encode())
            return len(self.ids) - 1, _ID
        cohort = as_cohort(who)
        if cohort.everyone:
            return 0, 0
        self.cohorts.append(cohort)
        return len(self.cohorts) - 1, _COHORT

    def _pack(self) -> None:
        if not self._waiting:
            return
        kinds, first, last, names = zip(*self._waiting, strict=True)
        self._kind.extend(kinds)
        self._first.extend(first)
        self._last.extend(last)
        self._names.extend(names)
        self._waiting.clear()

    def __len__(self) -> int:
        return len(self._kind) + len(self._waiting)

    @property
    def names(self) -> PackedTexts:
        self._pack()
        return self._names

    def columns(self) -> tuple[Array, Array, Array]:
        """(kind, first, last) of each row, to be read only; nothing can be added while they are in use."""
        self._pack()
        return np.frombuffer(self._kind, np.int32), np.frombuffer(self._first, np.int64), np.frombuffer(self._last, np.int64)

    def cohort(self, row: int) -> Cohort:
        self._pack()
        return self._cohort(self._first[row], self._last[row])

    def _cohort(self, first: int, last: int) -> Cohort:
        if last > first:
            return Cohort.one_range((first, last))
        if last == first:
            return Cohort.all()
        return Cohort.one_id(self.ids[first]) if last == _ID else self.cohorts[first]

    def release(self, row: int) -> Release:
        """The release of a row, without its values."""
        self._pack()
        return self.kinds[self._kind[row]].release.about(self._names[row], self.cohort(row))

    def releases(self) -> Iterator[Release]:
        return map(self.release, range(len(self)))

    def counts(self) -> list[int]:
        """How many releases there are of each kind."""
        return np.bincount(self.columns()[0], minlength=len(self.kinds)).tolist()

    def sizes(self) -> Array:
        """How many records each row is about; 0: everyone, or nobody."""
        _, first, last = self.columns()
        found = np.where(last > first, last.astype(np.uint64) - first.astype(np.uint64), np.uint64(0))
        found[self.named()] = 1
        for row in self.others().tolist():
            found[row] = self.cohorts[self._first[row]].size
        return found

    def everyone(self) -> Array:
        """The rows that are about everyone."""
        _, first, last = self.columns()
        return np.flatnonzero(first == last)

    def ranges(self) -> Array:
        """The rows that are about one range."""
        _, first, last = self.columns()
        return np.flatnonzero(last > first)

    def named(self) -> Array:
        """The rows that are about one pseudonym; its text is at the row's ``first`` in ``ids``."""
        _, first, last = self.columns()
        return np.flatnonzero((last < first) & (last == _ID))

    def others(self) -> Array:
        """The rows about anybody else."""
        _, first, last = self.columns()
        return np.flatnonzero((last < first) & (last == _COHORT))

    def runs(self, sorts: Array, count: int) -> Iterator[tuple[int, int, array[int], array[int]]]:
        """(sort, how many about everyone, starts, stops): the rows about everyone and about one range, some at a time."""
        everyone = np.bincount(sorts[self.everyone()], minlength=count).tolist()
        yield from ((sort, times, array("q"), array("q")) for sort, times in enumerate(everyone) if times)
        _, first, last = self.columns()
        rows = self.ranges()
        rows = rows[np.argsort(sorts[rows], kind="stable")]
        ends = np.searchsorted(sorts[rows], np.arange(count + 1)).tolist()
        for sort in range(count):
            for start in range(ends[sort], ends[sort + 1], _AT_ONCE):
                here = rows[start : min(start + _AT_ONCE, ends[sort + 1])]
                yield sort, 0, array("q", first[here].tobytes()), array("q", last[here].tobytes())

    def touching(self, record: int | str | None) -> Array:
        """The rows that are about this record, in their order; None: those about everyone alone."""
        _, first, last = self.columns()
        found = first == last
        if isinstance(record, int):
            found |= (first <= record) & (record < last)
        elif record is not None:
            text, rows = record.encode(), self.named()
            found[[row for row in rows.tolist() if self.ids.bytes_at(self._first[row]) == text]] = True
        if record is not None:
            found[[row for row in self.others().tolist() if record in self.cohorts[self._first[row]]]] = True
        return np.flatnonzero(found)


def _facts_of(release: Release) -> tuple[Any, ...]:
    """All but name, cohort and values."""
    fields = release.__dict__
    return (
        release.mechanism, release.sensitivity, release.derived, release.epsilon, release.delta, release.to, release.kind,
        release.n, release.theorem, release.steps, release.coordinates, release.crowd, release.read, release.relation,
        release.count, release.sampling, release.leaves, release.failure,
        *(tuple(fields[name].items()) for name in ("parameters", "tags", "extra")),
    )  # fmt: skip
