"""Traces: how private values depend on private records, and how exactly they were computed.

A trace never looks at the data. It is derived from the declared bounds and the operations alone, so that what the door
derives from it is the same for every neighbouring data set.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue, Leak
from dpaudit.noise import GRID

LARGEST = 2**52  # units of the grid; see noise.to_units
ANYONE = -1  # stands for "whichever record is added or removed" in the ids of a Spread

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep


@dataclass(frozen=True)
class Elements:
    """Entry j of a vector depends on record ids[j] alone and lies in [low[j], high[j]]; no id occurs twice.

    Where records can be removed, positions mean nothing: low and high are then one number for all.
    """

    ids: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Spread:
    """Changing record ids[j] moves coordinate c by at most moves[j, c]; no id occurs twice."""

    ids: np.ndarray
    moves: np.ndarray


@dataclass(frozen=True)
class Intervals:
    """Coordinate c depends on the records start[c] … stop[c]−1; each moves it by at most ``width``."""

    start: np.ndarray
    stop: np.ndarray
    width: float


@dataclass(frozen=True)
class Untraced:
    """The dependence was lost in ``operation`` at ``where``. ``hidden``: even the shape may depend on the data."""

    operation: str
    where: str
    hidden: bool = False


Trace = Elements | Spread | Intervals | Untraced


@dataclass(frozen=True)
class Precision:
    """The value is a multiple of 2^-bits and at most ``size`` in magnitude, up to an error of ``slop``."""

    bits: int
    size: float
    slop: float = 0.0

    def combine(self, bits: int, size: float, terms: int) -> Precision:
        """After an operation with ``terms`` rounded additions; exact while everything, differences too, fits 53 bits."""
        if self.slop == 0.0 and math.frexp(size)[1] + bits <= 52:
            return Precision(bits, size)
        grown = self.slop * max(1.0, size / max(self.size, 1e-300))
        return Precision(bits, size, grown + terms * 2.0**-52 * size)


def snap(values: Any, low: float, high: float) -> np.ndarray:
    """Clip to the bounds, snapped inward to the grid, and round to it; NaN becomes the lower bound."""
    scale = float(1 / GRID)
    if not (math.isfinite(low) and math.isfinite(high) and low < high and max(abs(low), abs(high)) * scale <= LARGEST):
        raise InvalidValue("low, high", (low, high), "in order, and at most 2^32 in magnitude")
    first, last = math.ceil(low * scale), math.floor(high * scale)
    if first > last:
        raise InvalidValue("low, high", (low, high), "at least 2^-20 apart, the grid that records lie on")
    raw = np.asarray(values)
    if raw.dtype.kind not in "biuf":
        raise InvalidValue("values", raw.dtype.type.__name__, "numbers, one per record")
    inside = np.clip(np.where(np.isnan(raw), low, raw), low, high)
    snapped: np.ndarray = np.clip(np.floor(inside * scale + 0.5), first, last) / scale
    return snapped


def bits_of(value: Any) -> int:
    """The b for which every finite entry is a multiple of 2^-b (0 for whole numbers, at most 1074)."""
    array = np.asarray(value, dtype=float).ravel()
    mantissa, exponent = np.frexp(array[(array != 0) & np.isfinite(array)])
    if not len(mantissa):
        return 0
    integer = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    trailing = np.log2((integer & -integer).astype(float)).astype(int)
    return int(max(0, np.max(53 - trailing - exponent)))


class Private:
    """Private values with their trace. ``removal``: neighbours lack a record, so the number of records is private."""

    __slots__ = ("precision", "removal", "trace", "value")

    def __init__(self, value: Any, trace: Trace, precision: Precision, removal: bool) -> None:
        self.value = np.asarray(value).view()
        self.value.flags.writeable = False  # slices share memory: a change in place would outdate their traces
        self.trace, self.precision, self.removal = trace, precision, removal

    @property
    def hidden(self) -> bool:
        """Does the shape depend on the data?"""
        if isinstance(self.trace, Untraced):
            return self.trace.hidden
        return self.removal and isinstance(self.trace, Elements)

    def with_trace(self, value: Any, trace: Trace) -> Private:
        return Private(value, trace, self.precision, self.removal)

    def lost(self, operation: str, value: Any, *, hidden: bool = False) -> Private:
        """The same records behind ``value``, but nobody knows how. The first loss is the one that is reported."""
        hide = (hidden or self.hidden) and np.ndim(value) > 0
        if isinstance(self.trace, Untraced):
            return self.with_trace(value, Untraced(self.trace.operation, self.trace.where, hide))
        return self.with_trace(value, Untraced(operation, caller(), hide))


@dataclass(frozen=True)
class Dependence:
    """What the door needs to know: per-record moves of each coordinate, and who is touched."""

    moves: np.ndarray  # (records or classes of records, coordinates)
    cohort: Any  # array of ids, or list of ranges; None for everybody
    slop: float

    def sensitivity(self, norm: int) -> float:
        """The largest move of one record, in L1 or L2; for people, and to compare with what was declared."""
        lengths = np.hypot.reduce(self.moves, axis=1) if norm == 2 else self.moves.sum(axis=1)
        return float(lengths.max(initial=0.0))

    def steps(self, grid: Fraction, norm: int) -> int:
        """The same as a whole number of grid steps, never too small: rounding moves a coordinate by ⌈Δ/grid⌉ at most."""
        moves = np.minimum(self.moves + 2 * self.slop * (self.moves > 0), float(2 * LARGEST * grid))
        rough = np.linalg.norm(moves / float(grid), ord=norm, axis=1)
        # Rounding up adds less than one step per coordinate, so only rows this close to the longest can be the longest.
        near = rough >= rough.max(initial=0.0) * (1 - 1e-9) - moves.shape[1]
        rows = moves[near].max(axis=0, keepdims=True) if moves.shape[1] == 1 and near.any() else np.unique(moves[near], axis=0)
        worst = max((sum((-(-Fraction(m) // grid)) ** norm for m in row) for row in rows), default=0)
        root = worst if norm == 1 else math.isqrt(worst)
        return root + (root**norm < worst)


def dependence_of(private: Private) -> Dependence | Untraced:
    """How far one record can move each coordinate, and whose records they are. Raises Leak when the shape would tell."""
    trace, slop = private.trace, private.precision.slop
    if private.hidden and private.value.ndim:
        raise Leak("its length", caller())
    if isinstance(trace, Untraced):
        return trace
    if isinstance(trace, Intervals):
        return _of_intervals(trace, slop)
    if isinstance(trace, Elements):
        widest = (trace.high - trace.low).max(initial=0.0)  # a neighbour moves one entry
        return Dependence(np.array([[widest]]), trace.ids, slop)
    moves = trace.moves.reshape(len(trace.ids), math.prod(trace.moves.shape[1:]))
    used = moves.any(axis=1)
    return Dependence(moves[used], None if private.removal else trace.ids[used], slop)


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


def caller() -> str:
    """Where in the user's code we are: the innermost frame outside this package and numpy."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith((_PACKAGE, _NUMPY)):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
