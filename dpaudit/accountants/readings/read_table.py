"""A table of releases as accountants read it: each sort of release once, however many there are of it.

Releases of one kind are read alike, but for reports: how many others one of them hides among also depends on how many clients the
cohort names, so that those of one kind and different sizes are different sorts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpaudit.accountants.losses.parts import AnyPart
from dpaudit.accountants.readings.reads import AnyRead, left_for_sums, lost, part_seen, read_release
from dpaudit.accountants.readings.touched_records import TouchedRecords
from dpaudit.ledger import Charge
from dpaudit.ledger.books.release_table import Array, ReleaseTable


class ReadTable:
    """``reads``: the first release of each sort; ``sorts``: the sort of each row; ``unused``: charges without a release."""

    def __init__(self, table: ReleaseTable, unused: Sequence[Charge] = ()) -> None:
        self.table, self.unused = table, unused
        self.sorts, firsts = _sorts(table)
        self.reads: list[AnyRead] = [read_release(table.release(row)) for row in firsts]
        self.counts: list[int] = np.bincount(self.sorts, minlength=len(firsts)).tolist()

    def parts(self, observer: str, delta: Fraction) -> list[AnyPart]:
        """What an observer sees of each sort."""
        share = Fraction(0)
        if observer == "actions" and any(read.summed for read in self.reads):
            share = left_for_sums(self.reads, self.counts, self.unused, delta) / self._most_summed()
        return [part_seen(read, observer, share) for read in self.reads]

    def _most_summed(self) -> int:
        """How many releases of which sums alone are shown touch the record that they touch most often."""
        kinds = ["sums" if read.summed else None for read in self.reads]
        return max((group.total() for group in TouchedRecords(self.table, self.sorts, kinds).groups()), default=1) or 1

    def touched(self, parts: Sequence[AnyPart]) -> TouchedRecords[AnyPart]:
        """Which of these parts, one for each sort, touch which records; lost charges do so by themselves."""
        return TouchedRecords(self.table, self.sorts, parts, [(lost(charge), charge.cohort) for charge in self.unused])

    def of_record(self, record: int | str | None, parts: Sequence[AnyPart]) -> Counter[AnyPart]:
        """The parts that touch this record; None: nobody in particular."""
        rows = self.sorts[self.touching(record)]
        found: Counter[AnyPart] = Counter()
        for sort, count in enumerate(np.bincount(rows, minlength=len(parts)).tolist()):
            found[parts[sort]] += count
        for charge in self.unused:
            if charge.cohort.everyone or (record is not None and record in charge.cohort):
                found[lost(charge)] += 1
        return +found

    def touching(self, record: int | str | None) -> Array:
        """The rows that are about this record; a release that names nobody is charged to everybody."""
        nobody = [row for row in self.table.others().tolist() if not self.table.cohort(row).size]
        rows = self.table.touching(record)
        return np.union1d(rows, nobody).astype(np.int64) if nobody else rows

    def row_of(self, sort: int) -> int:
        """The first row of a sort."""
        return int(np.argmax(self.sorts == sort))


def _sorts(table: ReleaseTable) -> tuple[Array, list[int]]:
    """The sort of each row, and the first row of each sort; they are numbered as they first come."""
    kind, _, _ = table.columns()
    crowded = np.array([each.release.kind != "release" for each in table.kinds], bool)
    if not crowded.any():
        return kind, np.unique(kind, return_index=True)[1].tolist()
    sizes = np.where(crowded[kind], table.sizes(), np.uint64(0))
    order = np.lexsort((sizes, kind))
    new = np.append(True, (np.diff(kind[order]) != 0) | (np.diff(sizes[order]) != 0))
    found = np.empty(len(kind), np.int64)
    found[order] = np.cumsum(new) - 1
    _, firsts = np.unique(found, return_index=True)
    rank = np.empty(len(firsts), np.int32)
    rank[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    return rank[found], np.sort(firsts).tolist()
