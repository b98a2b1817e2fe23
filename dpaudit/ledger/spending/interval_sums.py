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
from operator import add
from typing import Any

import numpy as np

from dpaudit.ledger.records.cohort import Interval

Amounts = tuple[Fraction, ...]  # one per column, none negative
Array = np.ndarray[Any, Any]

EVERYWHERE: Interval = (-(2**63), 2**63 - 1)

_ZERO = Fraction(0)
_WORD = 2**62  # sums below this fit into 64 bits, differences too
_LONGEST_UNIT, _FINEST_UNIT = 2**1024, 2**2048
_FEW = 32
_MANY = 2**18  # ranges that wait at most, asked or not: they take more memory than merged ones


class Pieces:
    """Sums in ``columns`` columns: piece i is [``starts[i]``, ``starts[i + 1]``), zero before the first and from the last on."""

    def __init__(self, columns: int) -> None:
        self._starts: Array = np.empty(0, np.int64)
        self._columns = [_Column() for _ in range(columns)]
        self._clear()
        self._worst: Amounts | None = None

    @property
    def used(self) -> bool:
        """Was anything added?"""
        return bool(self._from or len(self._starts))

    def add(self, start: int, stop: int, amounts: Amounts) -> None:
        """Add to every record of [start, stop), which is not empty."""
        self._from.append(start)
        self._to.append(stop)
        self._added.append(amounts)
        self._worst = None
        if len(self._from) > _MANY:
            self._merge()

    def add_run(self, starts: Sequence[int], stops: Sequence[int], amounts: Amounts) -> None:
        """Add the same to every record of each [start, stop), none of which is empty."""
        self._from.extend(starts)
        self._to.extend(stops)
        self._added.extend([amounts] * len(starts))
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
        segments, over = self._segments(intervals) if self._from else (intervals, None)
        if not segments:
            return (_ZERO,) * len(self._columns)
        if len(segments) > _FEW:
            return self._most_of_many(segments, over)
        below = [self._most_below(start, stop) for start, stop in segments]
        if over is None and len(below) == 1:
            return below[0]
        added = over or [(_ZERO,) * len(self._columns)] * len(below)
        return tuple(map(max, zip(*(map(add, low, more) for low, more in zip(below, added, strict=True)), strict=True)))

    def _most_below(self, start: int, stop: int) -> Amounts:
        """The largest merged sums in [start, stop)."""
        first, last = int(self._starts.searchsorted(start, "right")) - 1, int(self._starts.searchsorted(stop, "left"))
        return tuple(column.most(max(first, 0), last) for column in self._columns)

    def _most_of_many(self, segments: Sequence[Interval], over: list[Amounts] | None) -> Amounts:
        ends = np.array(segments, dtype=np.int64)
        first = np.maximum(np.searchsorted(self._starts, ends[:, 0], "right") - 1, 0)
        # From the last breakpoint on, sums are zero.
        last = np.minimum(np.searchsorted(self._starts, ends[:, 1], "left"), max(len(self._starts) - 1, 0))
        most = []
        for which, column in enumerate(self._columns):
            below = column.largest(first, last).tolist()
            if over is None:
                most.append(column.fraction(max(below)))
            else:
                most.append(max(column.fraction(low) + more[which] for low, more in zip(below, over, strict=True)))
        return tuple(most)

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
        if not column.used:
            return None
        place = int(np.argmax(column.values))
        if not column.values[place]:
            return None
        return (int(self._starts[place]), int(self._starts[place + 1])), column.fraction(column.values[place])

    def _segments(self, intervals: Sequence[Interval]) -> tuple[Sequence[Interval], list[Amounts] | None]:
        """The intervals, cut where a waiting range begins or ends, and what the waiting ones add to each part; None: nothing."""
        waiting = list(zip(self._from, self._to, self._added, strict=True))
        touched = [[each for each in waiting if each[0] < stop and each[1] > start] for start, stop in intervals]
        if not any(touched):
            return intervals, None
        segments: list[Interval] = []
        over: list[Amounts] = []
        for (start, stop), here in zip(intervals, touched, strict=True):
            steps = {start: [_ZERO] * len(self._columns), stop: [_ZERO] * len(self._columns)}
            for a, b, amounts in here:
                up, down = (steps.setdefault(cut, [_ZERO] * len(amounts)) for cut in (max(a, start), min(b, stop)))
                for which, amount in enumerate(amounts):
                    if amount:
                        up[which] += amount
                        down[which] -= amount
            cuts = sorted(steps)
            segments.extend(pairwise(cuts))
            columns = zip(*(steps[cut] for cut in cuts[:-1]), strict=True)
            over.extend(zip(*map(accumulate, columns), strict=True))
        return segments, over

    def _merge(self) -> None:
        """One sort of the breakpoints from the first new one on, one running sum per column; those where nothing changes go."""
        if not self._from:
            return
        kept = int(self._starts.searchsorted(min(self._from)))  # pieces before all that is new
        points = np.concatenate((self._starts[kept:], np.frombuffer(self._from, np.int64), np.frombuffer(self._to, np.int64)))
        order = np.argsort(points, kind="stable")
        points = points[order]
        last = np.append(points[1:] != points[:-1], True)
        changed = np.zeros(int(last.sum()), bool)
        columns = []
        distinct, which = self._distinct()
        for amounts, column in zip(zip(*distinct, strict=True), self._columns, strict=True):
            if not column.used and not any(amounts):  # most ledgers have no δ
                columns.append((column, column.values))
                continue
            wider, new = column.sized(len(self._starts)).with_room(amounts, which)
            before = wider.values[kept - 1] if kept else 0
            steps = np.concatenate((np.diff(wider.values[kept:], prepend=before), new, -new))[order]
            sums = np.cumsum(steps, out=steps)[last] + before
            changed |= (np.diff(sums, prepend=before) != 0).astype(bool)
            columns.append((wider, sums))
        self._starts = np.concatenate((self._starts[:kept], points[last][changed]))
        self._columns = [
            replace(column, values=np.concatenate((column.values[:kept], sums[changed]))) if column.used else column
            for column, sums in columns
        ]
        self._clear()

    def _distinct(self) -> tuple[list[Amounts], Array]:
        """The amounts that wait, each once, and which of them belongs to each range: ledgers repeat a few."""
        ids = np.fromiter(map(id, self._added), np.int64, len(self._added))
        if (ids == ids[0]).all():
            return self._added[:1], np.zeros(len(ids), np.int8)
        _, places, which = np.unique(ids, return_index=True, return_inverse=True)
        return [self._added[place] for place in places], which

    def _clear(self) -> None:
        self._from, self._to = array("q"), array("q")  # ranges that are not merged yet
        self._added: list[Amounts] = []


@dataclass(frozen=True)
class _Column:
    """Sums as multiples of 1/unit: in 64 bits, or as long integers where those are too short.

    Exact while the common denominator has at most 1024 bits; after that the unit is 2^-2048, and amounts are rounded up.
    """

    values: Array = field(default_factory=lambda: np.empty(0, np.int64))
    unit: int = 1
    used: bool = False  # is there anything but zeros?

    def fraction(self, value: Any) -> Fraction:
        return Fraction(int(value), self.unit)

    def most(self, first: int, last: int) -> Fraction:
        """The largest of values[first:last], at least zero."""
        if not self.used or first >= last:
            return _ZERO
        return self.fraction(self.values[first] if last == first + 1 else self.values[first:last].max())

    def largest(self, first: Array, last: Array) -> Array:
        """The largest of values[first:last] for each pair, at least zero. ``last`` is an index."""
        low, high = (int(first.min()), int(last.max())) if self.used else (0, 0)
        if low >= high:
            return np.zeros(len(first), np.int64)
        ends = np.stack((first, last), axis=1).ravel() - low
        largest: Array = np.maximum.reduceat(self.values[low : high + 1], np.clip(ends, 0, high - low))[::2]
        largest[first >= last] = 0
        return largest

    def sized(self, size: int) -> _Column:
        """With its zeros, which are not kept before anything else is there."""
        return self if self.used else replace(self, values=np.zeros(size, np.int64))

    def with_room(self, amounts: Amounts, which: Array) -> tuple[_Column, Array]:
        """The same sums in a form that holds all of ``amounts[which]`` too, and these in that form."""
        used, unit = self.used or any(amounts), self.unit
        for amount in amounts:
            unit = lcm(unit, amount.denominator) if unit < _LONGEST_UNIT else _FINEST_UNIT
        counted = [-(-amount.numerator * unit // amount.denominator) for amount in amounts]
        factor, rest = divmod(unit, self.unit)
        most = max(int(self.values.max(initial=0)), 1) * factor + max(counted) * len(which)
        values = self.values if most < _WORD and not rest else self.values.astype(object)
        values = -(-values * unit // self.unit) if rest else values * factor
        return _Column(values, unit, used), _array(counted, values.dtype)[which]


def _array(items: list[Any], kind: Any) -> Array:
    made = np.empty(len(items), kind)
    made[:] = items
    return made
