"""Exact sums over the integers, piecewise constant: ranges of records are charged, and the most charged one is asked for.

Sorted arrays of breakpoints and sums, and a short list of ranges that are not merged into them yet. A range costs one
append; merging is one sort and one running sum for all of them (O(n log n) for a whole ledger, in any order of ranges),
and a question with up to √n ranges waiting looks at those beside the arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt, lcm
from typing import Any

import numpy as np

from dpaudit.ledger.cohort import Interval

Amounts = tuple[Fraction, ...]  # one per column, none negative
Array = np.ndarray[Any, Any]

EVERYWHERE: Interval = (-(2**63), 2**63 - 1)

_ZERO = Fraction(0)
_WORD = 2**62  # sums below this fit into 64 bits, differences too
_LONGEST_UNIT = 2**1024
_FEW = 32
_MANY = 2**17  # ranges that wait at most, asked or not: they take more memory than merged ones


class Pieces:
    """Sums in ``columns`` columns: piece i is [``starts[i]``, ``starts[i + 1]``), zero before the first and from the last on."""

    def __init__(self, columns: int) -> None:
        self._starts: Array = np.empty(0, np.int64)
        self._columns = [_Column() for _ in range(columns)]
        self._clear()
        self._worst: Amounts | None = None

    def add(self, start: int, stop: int, amounts: Amounts) -> None:
        """Add to every record of [start, stop), which is not empty."""
        self._from.append(start)
        self._to.append(stop)
        self._added.append(amounts)
        self._worst = None
        if len(self._from) > _MANY:
            self._merge()

    def worst(self) -> Amounts:
        """The largest sum of each column."""
        if self._worst is None:
            self._worst = self.most([EVERYWHERE])
        return self._worst

    def most(self, intervals: Sequence[Interval]) -> Amounts:
        """The largest sum of each column over sorted disjoint intervals; zero for none."""
        waiting = len(self._from)
        if waiting > max(_FEW, isqrt(len(self._starts)) // 4) or (waiting and len(intervals) > _FEW):
            self._merge()
        segments, over = self._segments(intervals)
        if not segments:
            return (_ZERO,) * len(self._columns)
        ends = np.array(segments, dtype=np.int64)
        first = np.maximum(np.searchsorted(self._starts, ends[:, 0], "right") - 1, 0)
        # From the last breakpoint on, sums are zero.
        last = np.minimum(np.searchsorted(self._starts, ends[:, 1], "left"), max(len(self._starts) - 1, 0))
        found = []
        for column, more in zip(self._columns, over, strict=True):
            below = column.largest(first, last).tolist()
            if any(more):
                found.append(max(column.fraction(low) + extra for low, extra in zip(below, more, strict=True)))
            else:
                found.append(column.fraction(max(below)))
        return tuple(found)

    def pieces(self) -> list[Interval]:
        """The pieces, neighbours with equal sums as one; the last one, where nothing was added, is left out."""
        self._merge()
        return list(pairwise(self._starts.tolist()))

    def heaviest(self) -> tuple[Interval, Fraction] | None:
        """The first piece with the largest sum of the first column, and that sum."""
        self._merge()
        if not len(self._starts):
            return None
        column = self._columns[0]
        place = int(np.argmax(column.values))
        if not column.values[place]:
            return None
        return (int(self._starts[place]), int(self._starts[place + 1])), column.fraction(column.values[place])

    def _segments(self, intervals: Sequence[Interval]) -> tuple[list[Interval], list[list[Fraction]]]:
        """The intervals, cut where a waiting range begins or ends, and per column what the waiting ones add to each part."""
        segments: list[Interval] = []
        over: list[list[Fraction]] = [[] for _ in self._columns]
        for start, stop in intervals:
            ends = enumerate(zip(self._from, self._to, strict=True))
            here = [(place, max(a, start), min(b, stop)) for place, (a, b) in ends if a < stop and b > start]
            cuts = sorted({start, stop, *(a for _, a, _ in here), *(b for _, _, b in here)})
            segments.extend(pairwise(cuts))
            for which, column in enumerate(over):
                steps = dict.fromkeys(cuts, _ZERO)
                for place, a, b in here:
                    amount = self._added[place][which]
                    if amount:
                        steps[a] += amount
                        steps[b] -= amount
                column.extend(accumulate(steps[cut] for cut in cuts[:-1]))
        return segments, over

    def _merge(self) -> None:
        """One sort of all breakpoints, one running sum per column; breakpoints where nothing changes are dropped."""
        if not self._from:
            return
        points = np.concatenate((self._starts, np.array(self._from), np.array(self._to)))
        order = np.argsort(points, kind="stable")
        points = points[order]
        last = np.append(points[1:] != points[:-1], True)
        changed = np.zeros(int(last.sum()), bool)
        columns = []
        for added, column in zip(zip(*self._added, strict=True), self._columns, strict=True):
            wider, new = column.with_room(added)
            steps = np.concatenate((np.diff(wider.values, prepend=0), new, -new))
            sums = np.cumsum(steps[order])[last]
            changed |= (np.diff(sums, prepend=0) != 0).astype(bool)
            columns.append(replace(wider, values=sums))
        self._starts = points[last][changed]
        self._columns = [replace(column, values=column.values[changed]) for column in columns]
        self._clear()

    def _clear(self) -> None:
        self._from, self._to = array("q"), array("q")  # ranges that are not merged yet
        self._added: list[Amounts] = []


@dataclass(frozen=True)
class _Column:
    """Sums as multiples of 1/unit: in 64 bits, as long integers where those are too short, or as Fractions (``mixed``,
    unit 1) where the denominators have too little in common."""

    values: Array = field(default_factory=lambda: np.empty(0, np.int64))
    unit: int = 1
    mixed: bool = False
    used: bool = False  # is there anything but zeros?

    def fraction(self, value: Any) -> Fraction:
        return Fraction(value) if self.mixed else Fraction(int(value), self.unit)

    def largest(self, first: Array, last: Array) -> Array:
        """The largest of values[first:last] for each pair, at least zero. ``last`` is an index."""
        low, high = (int(first.min()), int(last.max())) if self.used else (0, 0)
        if low >= high:
            return np.zeros(len(first), np.int64)
        ends = np.stack((first, last), axis=1).ravel() - low
        found: Array = np.maximum.reduceat(self.values[low : high + 1], np.clip(ends, 0, high - low))[::2]
        found[first >= last] = 0
        return found

    def with_room(self, added: Amounts) -> tuple[_Column, Array]:
        """The same sums in a form that holds all of these amounts too, and the amounts in that form."""
        _, places, which = np.unique(np.fromiter(map(id, added), np.int64, len(added)), return_index=True, return_inverse=True)
        amounts = [added[place] for place in places]  # ledgers repeat a few of them
        used, unit = self.used or any(amounts), self.unit
        for amount in amounts:
            unit = lcm(unit, amount.denominator) if unit < _LONGEST_UNIT else unit
        if self.mixed or unit >= _LONGEST_UNIT:
            fractions = _array([self.fraction(value) for value in self.values.tolist()], object)
            return _Column(fractions, 1, True, used), _array(amounts, object)[which]
        factor = unit // self.unit
        counted = [amount.numerator * (unit // amount.denominator) for amount in amounts]
        most = int(self.values.max(initial=0)) * factor + max(counted) * len(added)
        values = self.values if most < _WORD else self.values.astype(object)
        return _Column(values * factor, unit, False, used), _array(counted, values.dtype)[which]


def _array(items: list[Any], kind: Any) -> Array:
    made = np.empty(len(items), kind)
    made[:] = items
    return made
