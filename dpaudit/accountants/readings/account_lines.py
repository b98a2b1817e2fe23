"""The lines of an account, one for each release: made when they are asked for, as a million of them are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.accountants.readings.read_table import ReadTable
from dpaudit.claims import Line
from dpaudit.ledger.books.release_table import Array


@dataclass(frozen=True)
class Alike:
    """Lines that say the same but for names and numbers of clients. ``last``: the name of the last of them."""

    first: Line
    last: str
    count: int
    fewest: int  # clients
    most: int


class AccountLines(Sequence[Line]):
    """``of_sorts``: the line of the first release of each sort."""

    def __init__(self, reads: ReadTable, of_sorts: Sequence[Line]) -> None:
        self.of_sorts, self._reads = of_sorts, reads
        self._sizes: Array | None = None

    def __len__(self) -> int:
        return len(self._reads.sorts)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        return self._line(range(len(self))[place])

    def __iter__(self) -> Iterator[Line]:
        return map(self._line, range(len(self)))

    def _line(self, row: int) -> Line:
        sort = int(self._reads.sorts[row])
        return replace(self.of_sorts[sort], batch=self._reads.table.names[row], n=int(self._clients()[row]))

    def _clients(self) -> Array:
        """Of each release: one for each report, or the records of its cohort where they are known."""
        if self._sizes is None:
            releases = [read.release for read in self._reads.reads]
            own = np.array([release.n for release in releases], np.uint64)
            single = np.array([release.kind == "release" for release in releases], bool)
            sizes, sorts = self._reads.table.sizes(), self._reads.sorts
            self._sizes = np.where(single[sorts] & (sizes > 0), sizes, own[sorts]) if len(sorts) else sizes
        return self._sizes

    def alike(self) -> list[Alike]:
        """The lines of each sort together."""
        sorts = self._reads.sorts
        order = np.argsort(sorts, kind="stable")
        ends = np.searchsorted(sorts[order], np.arange(len(self.of_sorts) + 1)).tolist()
        found = []
        for start, stop in pairwise(ends):
            clients = self._clients()[order[start:stop]]
            last = self._reads.table.names[int(order[stop - 1])]
            found.append(Alike(self[int(order[start])], last, stop - start, int(clients.min()), int(clients.max())))
        return found


def alike(lines: Sequence[Line]) -> list[Alike]:
    """Lines that say the same together, in the order of their first; ``count`` of them all is the number of lines."""
    found: dict[tuple[Any, ...], Alike] = {}
    each = lines.alike() if isinstance(lines, AccountLines) else [Alike(line, line.batch, 1, line.n, line.n) for line in lines]
    for more in each:
        line = more.first
        key = (line.epsilon0, line.in_domain, line.epsilon, line.theorem, line.preconditions)
        one = found.get(key)
        if one is not None:
            more = Alike(
                one.first, more.last, one.count + more.count, min(one.fewest, more.fewest), max(one.most, more.most)
            )  # fmt: skip
        found[key] = more
    return list(found.values())
