"""Which kinds of releases touch the same record, and how many of each, for millions of releases: sorted and summed as arrays.

Says the same as ``record_groups``, which looks at one release after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

import numpy as np

from dpaudit.accountants.record_groups import groups, largest, records_with
from dpaudit.ledger import Cohort
from dpaudit.ledger.books.release_table import Array, ReleaseTable

Kind = TypeVar("Kind", bound=Hashable)
_CELLS = 2**17  # of counts at once; twice as many take more memory and are no faster
_MOST_CELLS = 2**29  # in all: some seconds; where there are more, most are zero, and looking at each release is faster
_WORD = 2**62


class TouchedRecords(Generic[Kind]):
    """``kinds``: one for each sort of row, None for a sort that is left out; ``more``: others and whom they touch."""

    def __init__(
        self, table: ReleaseTable, sorts: Array, kinds: Sequence[Kind | None], more: Iterable[tuple[Kind, Cohort]] = ()
    ) -> None:
        self._table, self._places = table, dict[Kind, int]()
        more = list(more)
        of_sort = np.array([-1 if kind is None else self._place(kind) for kind in kinds], np.int32)
        others = [(self._place(kind), cohort) for kind, cohort in more]
        self.kinds: list[Kind] = list(self._places)
        self._everyone = np.zeros(len(self.kinds), np.int64)
        rows = of_sort[sorts] if len(kinds) else np.empty(0, np.int32)
        for row in table.others().tolist():
            if rows[row] >= 0:
                cohort = table.cohort(row)
                others.append((int(rows[row]), cohort if cohort.size else Cohort.all()))
        self._rows, self._others = rows, others
        self._sort_in(rows, others)

    def _place(self, kind: Kind) -> int:
        return self._places.setdefault(kind, len(self._places))

    def _sort_in(self, rows: Array, others: Sequence[tuple[int, Cohort]]) -> None:
        _, first, last = self._table.columns()
        everyone = rows[self._table.everyone()]
        self._everyone += np.bincount(everyone[everyone >= 0], minlength=len(self.kinds))
        ranges, named = (each[rows[each] >= 0] for each in (self._table.ranges(), self._table.named()))
        apart = [(start, stop, place) for place, cohort in others for start, stop in cohort.intervals]
        more = np.array(apart, np.int64).reshape(-1, 3)
        self._starts = np.concatenate((first[ranges], more[:, 0]))
        self._stops = np.concatenate((last[ranges], more[:, 1]))
        self._range_kinds = np.concatenate((rows[ranges], more[:, 2].astype(np.int32)))
        self._texts = {name: _digest(name) for _, cohort in others for name in cohort.ids}
        by_name = [(self._texts[name], place) for place, cohort in others for name in sorted(cohort.ids)]
        extra = np.array(by_name, np.int64).reshape(-1, 2)
        digests = self._table.ids.digests()[first[named]] if len(named) else np.empty(0, np.int64)
        self._names = np.concatenate((digests, extra[:, 0]))
        self._name_kinds = np.concatenate((rows[named], extra[:, 1].astype(np.int32)))
        for place, cohort in others:
            self._everyone[place] += cohort.everyone

    def groups(self) -> list[Counter[Kind]]:
        """For every record the kinds that touch it, counted; equal ones once, and none that is part of another."""
        if self._is_sparse():
            return groups(self._pairs())
        found = {tuple([0] * len(self.kinds))}
        for _, rows, grows in self._sweep():
            found.update(map(tuple, _distinct(rows[grows]).tolist()))
        found.update(map(tuple, _distinct(self._named_counts()[1]).tolist()))
        if len(self.kinds) == 1:
            found = {max(found)}  # the others are part of it
        return largest([self._counter(own) for own in found])

    def records_with(self, group: Counter[Kind]) -> Cohort:
        """The records that exactly these kinds touch, so often: the first range of them, or the first name; else everyone."""
        if self._is_sparse():
            return records_with(self._pairs(), group)
        if not set(group) <= set(self.kinds):
            return Cohort.all()
        wanted = np.array([group[kind] for kind in self.kinds], np.int64) - self._everyone
        before: int | None = None
        for places, rows, _ in self._sweep():
            if before is not None:
                return Cohort(intervals=((before, int(places[0])),))
            here = np.flatnonzero((rows == wanted).all(axis=1))
            if len(here) and here[0] + 1 < len(places):
                return Cohort(intervals=((int(places[here[0]]), int(places[here[0] + 1])),))
            before = int(places[-1]) if len(here) else None
        digests, counts = self._named_counts()
        names = self._texts_of(digests[(counts == wanted).all(axis=1)])
        return Cohort(ids=frozenset((min(names),))) if names else Cohort.all()

    def _is_sparse(self) -> bool:
        return (2 * len(self._starts) + len(self._names)) * len(self.kinds) > _MOST_CELLS

    def _pairs(self) -> Iterator[tuple[Kind, Cohort]]:
        """One release after the other."""
        plain = np.setdiff1d(np.flatnonzero(self._rows >= 0), self._table.others())
        yield from ((self.kinds[self._rows[row]], self._table.cohort(row)) for row in plain.tolist())
        yield from ((self.kinds[place], cohort) for place, cohort in self._others)

    def _texts_of(self, digests: Array) -> list[str]:
        ids, wanted = self._table.ids, set(digests.tolist())
        if not wanted:
            return []
        found = [ids[place] for place in np.flatnonzero(np.isin(ids.digests(), digests)).tolist()] if len(ids) else []
        return [*found, *(name for name, digest in self._texts.items() if digest in wanted)]

    def _counter(self, own: Sequence[int]) -> Counter[Kind]:
        counts = (self._everyone + np.array(own, np.int64)).tolist()
        return Counter({kind: count for kind, count in zip(self.kinds, counts, strict=True) if count})

    def _sweep(self) -> Iterator[tuple[Array, Array, Array]]:
        """(places, counts from there on, whether any of them grew there), in the order of places, some at a time."""
        points = np.concatenate((self._starts, self._stops))
        order, half, width = np.argsort(points, kind="stable"), len(self._starts), max(len(self.kinds), 1)
        carried, shown = np.zeros(width, np.int64), np.zeros((1, width), np.int64)
        size = max(_CELLS // width, 1)
        for begin in range(0, len(points), size):
            chosen = order[begin : begin + size]
            counts = np.zeros((len(chosen), width), np.int64)
            counts[np.arange(len(chosen)), self._range_kinds[chosen % half]] = np.where(chosen < half, 1, -1)
            counts[0] += carried
            np.cumsum(counts, axis=0, out=counts)
            carried = counts[-1]
            places = points[chosen]
            following = points[order[begin + size]] if begin + size < len(points) else None
            last = np.append(places[1:] != places[:-1], following is None or following != places[-1])
            rows = counts[last]
            if len(rows):
                grows: Array = np.asarray((np.diff(np.concatenate((shown, rows)), axis=0) > 0).any(axis=1))
                shown = rows[-1:]
                yield places[last], rows, grows

    def _named_counts(self) -> tuple[Array, Array]:
        """Each pseudonym by its digest, and the counts of the kinds that touch it. Two of one digest would count as one
        person who pays for both: never less than each of them."""
        digests, which = np.unique(self._names, return_inverse=True)
        width = max(len(self.kinds), 1)
        counts = np.bincount(which * width + self._name_kinds, minlength=len(digests) * width)
        return digests, counts.reshape(-1, width)


def _digest(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little", signed=True)


def _distinct(rows: Array) -> Array:
    """The different rows, by one number each where that holds them."""
    if not len(rows):
        return rows
    sizes = [int(most) + 1 for most in rows.max(axis=0)]
    factors = [1]
    for size in sizes[:-1]:
        factors.append(factors[-1] * size)
    if factors[-1] * sizes[-1] >= _WORD:
        return np.unique(rows, axis=0)
    _, places = np.unique(rows @ np.array(factors, np.int64), return_index=True)
    return rows[places]
