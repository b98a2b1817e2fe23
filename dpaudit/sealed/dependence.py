"""What the door derives from a trace: how far one record can move a release, in steps of the grid, and whose records they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import Leak
from dpaudit.sealed.callers import caller
from dpaudit.sealed.joint_bounds import FREE, Joint
from dpaudit.sealed.trace import ANY_BITS, LARGEST, NOBODY, Elements, Intervals, Private, Spread, Untraced

MOST_MOVES = 10**7  # numbers in a table of moves; what would need more is untraced


@dataclass(frozen=True)
class Dependence:
    """What the door needs to know: per-record moves of each coordinate, and who is touched."""

    moves: np.ndarray  # (records or classes of records, coordinates)
    cohort: Any  # array of ids, or list of ranges; None for everybody
    slop: float
    joint: Joint = FREE  # norms of all moves of one record together
    bits: int = ANY_BITS  # without a slop, values are multiples of 2^-bits
    one_way: bool = False  # does every pair of neighbours move all coordinates up, or all down?

    @property
    def finite(self) -> bool:
        """Can the moves of a record be added up?"""
        return bool(np.isfinite(self.moves.sum(axis=1) + self.slop).all())

    def sensitivity(self, norm: int) -> float:
        """The largest move of one record, in L1 or L2, or (norm 0) the most entries that one changes, or (norm −1) the largest
        move of one entry; for people, and to compare with what was declared."""
        if norm == 0:
            return float((self.moves > 0).sum(axis=1).max(initial=0))
        if norm < 0:
            return min(float(self.moves.max(initial=0.0)), self.joint.l1, self.joint.l2)
        lengths = np.hypot.reduce(self.moves, axis=1) if norm == 2 else self.moves.sum(axis=1)
        return min(float(lengths.max(initial=0.0)), self.joint.norm(norm))

    @property
    def advice(self) -> str:
        """What would prove more, for whoever knows that one record moves it by less."""
        if self.moves.shape[1] > 1:
            return (
                "dp.clip_rows(rows, norm) bounds all numbers of a record together, and masks that compare the same array, "
                "as (x[:, None] == values), are known to exclude each other"
            )
        return "clip each record before the sum, as in np.clip(x, low, high).sum(), or seal with narrower bounds"

    def steps(self, grid: Fraction, norm: int) -> int:
        """The same as a whole number of grid steps, never too small: rounding moves a coordinate by ⌈Δ/grid⌉ at most."""
        if norm == 0:
            return int((self.moves > 0).sum(axis=1).max(initial=0))
        if norm < 0:
            return self._entry_steps(grid)[0]
        moves = np.minimum(self.moves + 2 * self.slop * (self.moves > 0), float(2 * LARGEST * grid))
        if moves.shape[1] == 1:  # one number: the longest row is the largest
            worst = (-(-Fraction(float(moves.max(initial=0.0))) // grid)) ** norm
            return self._steps_within(worst, grid, norm)
        rough = np.linalg.norm(moves / float(grid), ord=norm, axis=1)
        # Rounding up adds less than one step per coordinate, so only rows this close to the longest can be the longest.
        near = moves[rough >= rough.max(initial=0.0) * (1 - 1e-9) - moves.shape[1]]
        if len(near) > 1:
            near = near[:1] if (near == near[0]).all() else np.unique(near, axis=0)
        worst = max((sum((-(-Fraction(m) // grid)) ** norm for m in row) for row in near), default=0)
        return self._steps_within(worst, grid, norm)

    def _steps_within(self, worst: int, grid: Fraction, norm: int) -> int:
        """The root of ``worst``, or what the norm of all moves together allows."""
        together = self._joint_steps(grid, norm)
        return _root(worst, norm) if together is None else min(_root(worst, norm), together)

    def gap_steps(self, grid: Fraction) -> int:
        """How far one record moves the difference of two coordinates: by the two largest of its moves together, or by the larger
        where both go one way."""
        largest, both = self._entry_steps(grid)
        return largest + (1 if self.slop else 0) if self.one_way else both  # an error may point the other way

    def _entry_steps(self, grid: Fraction) -> tuple[int, int]:
        """The largest move of one coordinate, and the largest two of one record together."""
        two = np.sort(self.moves, axis=1)[:, -2:] + 0.0
        two = np.minimum(two + 2 * self.slop * (two > 0), float(2 * LARGEST * grid))
        rows = np.unique(two, axis=0)
        steps = [[math.ceil(Fraction(float(move)) / grid) for move in row] for row in rows]
        return max((max(row) for row in steps if row), default=0), max((sum(row) for row in steps), default=0)

    def _joint_steps(self, grid: Fraction, norm: int) -> int | None:
        """The same from the norm of all moves together. On the grid nothing is rounded; else m coordinates that move are
        rounded apart by less than one step each, which adds m steps to an L1 norm, and √m to an L2 norm."""
        length = self.joint.norm(norm)
        if math.isinf(length):
            return None
        steps = Fraction(length) / grid
        if self.slop == 0.0 and (Fraction(1, 2**self.bits) / grid).denominator == 1:
            return _root(math.floor(steps**norm), norm)
        places = self.moves.shape[1]
        spread = Fraction(places) if norm == 1 else Fraction(math.isqrt(places << 80) + 1, 1 << 40)
        return math.ceil(steps + spread * (1 + 2 * Fraction(self.slop) / grid))


def _root(power: int, norm: int) -> int:
    """The least whole number whose square, or itself, is no smaller."""
    root = power if norm == 1 else math.isqrt(power)
    return root + (root**norm < power)


def dependence_of(private: Private) -> Dependence | Untraced:
    """How far one record can move each coordinate, and whose records they are. Raises Leak when the shape would tell."""
    trace = private.trace
    if private.hidden:
        raise Leak("its length", caller())
    if isinstance(trace, Untraced):
        return trace
    with np.errstate(all="ignore"):
        dependence = _of(private)
        finite = isinstance(dependence, Untraced) or dependence.finite
    return dependence if finite else Untraced("numbers too large to add up", caller())


def _of(private: Private) -> Dependence | Untraced:
    trace, slop = private.trace, private.precision.slop
    dependence: Dependence | Untraced
    assert not isinstance(trace, Untraced)
    if isinstance(trace, Intervals):
        return _of_intervals(trace, slop)
    if isinstance(trace, Elements):
        dependence = _of_elements(trace, private.value.shape, slop)
        joint = trace.facts.joint if trace.facts.joint == FREE else trace.facts.joint.difference(one_sign=False)
    else:
        dependence, joint = _of_spread(trace, private.value.size, slop, removal=private.removal), trace.joint
        dependence = replace(dependence, one_way=private.sign != 0)
    return dependence if isinstance(dependence, Untraced) else replace(dependence, joint=joint, bits=private.precision.bits)


def _of_spread(trace: Spread, size: int, slop: float, *, removal: bool) -> Dependence:
    rows = len(trace.moves)
    moves, used = trace.moves.reshape(rows, size), trace.moves.reshape(rows, size).any(axis=1)
    if trace.places is not None and trace.places < size:  # these are the coordinates that one record can move at once
        moves = np.partition(moves, size - trace.places, axis=1)[:, size - trace.places :]
    if removal:
        return Dependence(moves[used], None, slop)
    own = np.broadcast_to(used, len(trace.ids)) & (trace.ids != NOBODY)
    return Dependence(moves[own] if rows == len(own) else moves[used], _cohort(trace.ids[own]), slop)


def _of_elements(trace: Elements, shape: tuple[int, ...], slop: float) -> Dependence | Untraced:
    """Entries that belong to one record move together. The door takes NaN for 0."""
    if not (np.isfinite(trace.low).all() and np.isfinite(trace.high).all()):
        return Untraced("values that can be infinite", caller())
    if trace.nan:
        trace = replace(trace, low=np.minimum(trace.low, 0.0), high=np.maximum(trace.high, 0.0))
    width = trace.width
    ids = np.broadcast_to(trace.ids, shape).ravel()
    if width.ndim == 0 and width > 0 and distinct(ids):
        return Dependence(np.full((min(len(ids), 1), 1), width), _cohort(ids), slop)
    widths = np.broadcast_to(width, shape).ravel()
    moved = widths > 0
    table = by_record(ids[moved], widths[moved])
    if table is None:
        return Untraced("too many entries of one record", caller())
    return Dependence(table[1], _cohort(table[0]), slop)


def by_record(ids: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The records, and for each a row of the moves of its entries, filled up with zeros; None where that grows too large."""
    if distinct(ids):
        return ids, widths.reshape(-1, 1)
    order = np.argsort(ids, kind="stable")
    records, first, counts = np.unique(ids[order], return_index=True, return_counts=True)
    if len(records) * int(counts.max()) > MOST_MOVES:
        return None
    table = np.zeros((len(records), int(counts.max())))
    row = np.repeat(np.arange(len(records)), counts)
    table[row, np.arange(len(ids)) - first[row]] = widths[order]
    return records, table


def distinct(ids: np.ndarray) -> bool:
    """Does every entry belong to a record of its own?"""
    return bool((np.diff(ids) > 0).all()) or len(np.unique(ids)) == len(ids)


def _cohort(ids: np.ndarray) -> Any:
    """Ids as a range where they are one."""
    if len(ids) and ids[-1] - ids[0] == len(ids) - 1 and bool((np.diff(ids) == 1).all()):
        return range(int(ids[0]), int(ids[-1]) + 1)
    return ids


def _of_intervals(trace: Intervals, slop: float) -> Dependence:
    """Intervals that do not overlap: each record moves one coordinate. Where they overlap, its moves add up."""
    start, stop = trace.start.ravel(), trace.stop.ravel()
    keep = stop > start
    start, stop = start[keep], stop[keep]
    events = np.concatenate([start, stop])
    steps = np.concatenate([np.ones(len(start), int), -np.ones(len(stop), int)])
    order = np.lexsort((steps, events))  # at one place, ends come before starts
    deepest = int(np.cumsum(steps[order]).max(initial=0))
    ranges = [range(int(a), int(b)) for a, b in zip(start, stop, strict=True)]
    return Dependence(np.full((1, deepest), trace.width), ranges, slop)


def common_width(private: Private) -> float:
    """How wide an interval is that holds every entry, whatever the data. The door takes NaN for 0. Infinite where not known."""
    trace = private.trace
    if not isinstance(trace, Elements):
        return math.inf
    low, high = float(np.min(trace.low, initial=math.inf)), float(np.max(trace.high, initial=-math.inf))
    if trace.nan:
        low, high = min(low, 0.0), max(high, 0.0)
    return max(high - low, 0.0) if math.isfinite(high - low) else math.inf
