"""Traces: how private values depend on private records, and how exactly they were computed.

A trace never looks at the data. It is derived from the declared bounds and the operations alone, so that what the door
derives from it is the same for every neighbouring data set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.noise import GRID
from dpaudit.sealed.callers import caller
from dpaudit.sealed.joint_bounds import FREE, Joint, Shares
from dpaudit.sealed.origins import Origin
from dpaudit.sealed.row_facts import NOTHING, Facts

LARGEST = 2**52  # units of the grid; see noise.to_units
ANYONE = -1  # stands for "whichever record is added or removed" in the ids of a Spread
NOBODY = -2  # stands for public values among the ids of Elements
ANY_BITS = 1074  # every float64 is a multiple of 2^-1074
TINY = 2.0**-900  # rounding errors of smaller numbers may be lost below 2^-1074: nothing inexact is said of them
SHAPE, TYPE = 1, 2  # what may depend on the data besides the values: the shape; the shape and the type

Range = tuple[np.ndarray, np.ndarray, bool]  # low, high, may be NaN


@dataclass(frozen=True)
class Elements:
    """Each entry is a function of one record alone, ids[entry] (NOBODY: of none), and lies in [low, high] as it was computed,
    or is NaN where ``nan`` is set.

    ids, low and high broadcast to the shape of the value; several entries may share a record. Where records can be removed,
    ``axis``, counted from the end, is theirs: positions along it mean nothing, so that low and high are the same all along it.
    ``told`` is what a condition tells about the values that it was asked of; ``choices``, between which traces, each within a
    range, a condition chose. ``facts``: what else is known.
    """

    ids: np.ndarray
    low: np.ndarray
    high: np.ndarray
    nan: bool = False
    axis: int = -1
    told: Told | None = None
    choices: tuple[tuple[Elements, Range], ...] = ()
    facts: Facts = NOTHING

    @property
    def range(self) -> Range:
        return self.low, self.high, self.nan

    @property
    def finite(self) -> bool:
        """Can no entry be NaN or infinite?"""
        return not self.nan and bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def width(self) -> np.ndarray:
        """How far one record can move each entry; public ones, not at all."""
        width = gap(self.low, self.high)
        return np.where(self.ids == NOBODY, 0.0, width) if self.ids.min(initial=0) == NOBODY else width

    @property
    def size(self) -> float:
        """The largest magnitude of an entry."""
        return float(np.maximum(np.abs(self.low), np.abs(self.high)).max(initial=0.0))


@dataclass(frozen=True)
class Told:
    """Where the condition holds, the values behind ``trace`` lie in the range ``true``, elsewhere in the range ``false``."""

    trace: Elements
    true: Range
    false: Range
    origin: Origin | None = None  # of the values that it was asked of


@dataclass(frozen=True)
class Spread:
    """Changing record ids[j] moves coordinate c by at most moves[j, c], and at most ``places`` of the coordinates (None: all).

    No id occurs twice. One row of moves holds for all records alike. ``joint``: norms of all moves of one record together;
    ``shares``: what each record adds to each coordinate, where the value is a sum over records.
    """

    ids: np.ndarray
    moves: np.ndarray
    places: int | None = None
    joint: Joint = FREE
    shares: Shares | None = None


def shared_out(trace: Spread, shares: Shares, *, removal: bool) -> Spread:
    """The trace of a sum to which each record adds these shares, with what they say of all of its moves together."""
    most, joint = shares.joint(removal=removal)
    places, joint = max(most, 1), trace.joint.both(joint)
    joint = joint.over(min(places, shares.size.size))
    few = trace.places if trace.places is not None and trace.places <= places else places
    return replace(trace, places=few if few < shares.size.size else None, joint=joint, shares=shares)


@dataclass(frozen=True)
class Intervals:
    """Coordinate c depends on the records start[c] … stop[c]−1; each moves it by at most ``width``."""

    start: np.ndarray
    stop: np.ndarray
    width: float


@dataclass(frozen=True)
class Untraced:
    """The dependence was lost in ``operation`` at ``where``. ``hidden``: even SHAPE, or SHAPE and TYPE, depend on data."""

    operation: str
    where: str
    hidden: int = 0


Trace = Elements | Spread | Intervals | Untraced


@dataclass(frozen=True)
class Precision:
    """The value is a multiple of 2^-bits and at most ``size`` in magnitude, up to an error of ``slop``."""

    bits: int
    size: float
    slop: float = 0.0

    def combine(self, bits: int, size: float, terms: int) -> Precision:
        """After an operation with ``terms`` rounded additions; exact while everything, differences too, fits 53 bits.

        The error is infinite where it cannot be bounded: the value is then untraced.
        """
        if self.slop == 0.0 and fits(bits, size):
            return Precision(bits, size)
        if not math.isfinite(size) or 0 < size < TINY or (self.slop and not TINY <= self.size < math.inf):
            return Precision(bits, size, math.inf)
        grown = self.slop * max(1.0, size / self.size) if self.slop else 0.0
        return Precision(bits, size, grown + terms * 2.0**-52 * size)


def fits(bits: int, size: float) -> bool:
    """Do multiples of 2^-bits up to ``size``, and their differences, fit into a float64?"""
    return bits <= ANY_BITS and math.isfinite(size) and math.frexp(size)[1] + bits <= 52


class Unbounded(ArithmeticError):
    """A move, a range or a rounding error is not finite: the operation cannot say how its result depends on a record."""


def gap(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """high − low, rounded up (the rounding error of a difference is itself a float: Knuth's two-sum)."""
    rounded = np.asarray(high - low)
    back = rounded - high
    error = (high - (rounded - back)) - (low + back)
    return np.where(error > 0, np.nextafter(rounded, np.inf), rounded)


def snap(values: Any, low: Any, high: Any) -> np.ndarray:
    """Clip to the bounds, snapped inward to the grid, and round to it; NaN becomes the lower bound."""
    scale = float(1 / GRID)
    ends = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    size = np.maximum(np.abs(ends[0]), np.abs(ends[1]))
    if not bool((np.isfinite(size) & (ends[0] < ends[1]) & (size * scale <= LARGEST)).all()):
        raise InvalidValue("low, high", (low, high), "in order, and at most 2^32 in magnitude")
    first, last = np.ceil(ends[0] * scale), np.floor(ends[1] * scale)
    if bool((first > last).any()):
        raise InvalidValue("low, high", (low, high), "at least 2^-20 apart, the grid that records lie on")
    raw = np.asarray(values)
    if raw.dtype.kind not in "biuf":
        raise InvalidValue("values", raw.dtype.type.__name__, "numbers, one per record")
    if raw.ndim != 0 and first.ndim and raw.shape[-1:] != first.shape:
        raise InvalidValue("low, high", f"of shape {first.shape}", "one number, or one for each column of the records")
    with np.errstate(over="ignore"):
        units = np.asarray(raw * scale)
    units += 0.5
    np.floor(units, out=units)
    np.copyto(units, first, where=np.isnan(units))
    np.clip(units, first, last, out=units)
    units /= scale
    return units


def bits_of(value: Any) -> int:
    """The b for which every finite entry is a multiple of 2^-b (0 for whole numbers, at most 1074)."""
    array = np.asarray(value, dtype=float).ravel()
    mantissa, exponent = np.frexp(array[(array != 0) & np.isfinite(array)])
    if not len(mantissa):
        return 0
    integer = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    trailing = np.log2((integer & -integer).astype(float)).astype(int)
    return int(max(0, np.max(53 - trailing - exponent)))


def is_public(ids: np.ndarray) -> bool:
    """Are these the ids of a public value?"""
    return ids.ndim == 0 and bool(ids == NOBODY)


class Private:
    """Private values with their trace. ``removal``: neighbours lack a record, so the number of records is private.

    Raises ``Unbounded`` for a trace with a number that is not finite; entries of one record may be infinite where raw data are.
    """

    __slots__ = ("multiple_of", "origin", "precision", "removal", "sign", "trace", "value")

    def __init__(self, value: Any, trace: Trace, precision: Precision, removal: bool) -> None:
        self.value = np.asarray(value).view()
        self.value.flags.writeable = False  # slices share memory: a change in place would outdate their traces
        self.trace, self.precision, self.removal = trace, precision, removal
        self.origin = Origin()
        self.multiple_of: tuple[Private, Fraction] | None = None  # exactly, another one times a public number other than 0
        self.sign = 0  # 1: a record that is removed takes away from every entry or leaves it, −1: it adds to it; 0: not known
        if not _bounded(trace, precision):
            raise Unbounded

    @property
    def hidden(self) -> int:
        """Does the shape depend on the data (SHAPE), or the type too (TYPE)?"""
        if isinstance(self.trace, Untraced):
            return self.trace.hidden
        return SHAPE if self.removal and isinstance(self.trace, Elements) else 0

    def named(self, origin: Origin) -> Private:
        """The same under the identity of what it was computed from."""
        self.origin = origin
        return self

    def signed(self, sign: int) -> Private:
        """The same, with the side to which a removed record moves every entry; what is computed from it does not have it."""
        self.sign = sign
        return self

    def times(self, source: Private | None, weight: Fraction) -> Private:
        """The same as ``weight`` times ``source``, up to the rounding of the computed value."""
        if source is not None and weight:
            before = source.multiple_of
            self.multiple_of = (source, weight) if before is None else (before[0], before[1] * weight)
        return self

    def with_trace(self, value: Any, trace: Trace) -> Private:
        return Private(value, trace, self.precision, self.removal)

    def lost(self, operation: str, value: Any, *, hidden: int | None = None) -> Private:
        """The same records behind ``value``, but nobody knows how. The first loss is the one that is reported.

        ``hidden``: what else depends on the data; by default, what did so far.
        """
        hide = self.hidden if hidden is None else hidden
        if isinstance(self.trace, Untraced):
            return self.with_trace(value, Untraced(self.trace.operation, self.trace.where, hide))
        return self.with_trace(value, Untraced(operation, caller(), hide))


def _bounded(trace: Trace, precision: Precision) -> bool:
    if isinstance(trace, Untraced):
        return True
    if isinstance(trace, Elements):
        return math.isfinite(precision.slop) and not (np.isnan(trace.low).any() or np.isnan(trace.high).any())
    furthest = trace.width if isinstance(trace, Intervals) else float(np.max(trace.moves, initial=0.0))  # NaN if one is
    return math.isfinite(precision.size) and math.isfinite(precision.slop) and math.isfinite(furthest)
