"""What is known of the entries of one record beyond their ranges: joint bounds, where they vanish, and norms of its row.

Norms are those of all entries that a record has in an array, its row. A divisor r ≥ ‖x‖/C gives ‖x/r‖ ≤ C, and so does a
factor f ≤ C/‖x‖. Rounding: a norm of d numbers is computed with a relative error below (d + 4)·2^-53, every operation after it
with one below 2^-53; each is charged at eight times that. Squares of numbers below 2^-511 vanish: they count only in rows
shorter than ``SHORT``, which no divisor above ``LEAST`` and no factor below 1/``LEAST`` makes as long as ``SMALLEST``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.sealed.joint_bounds import FREE, Joint, Move, Regions
from dpaudit.sealed.origins import Origin

SHORT, LEAST, SMALLEST = 2.0**-400, 2.0**-300, 2.0**-90
_ULP = 2.0**-50


@dataclass(frozen=True)
class Powers:
    """Each entry is |x|^order of the entry x at its place in ``rows``."""

    rows: Origin
    order: int


@dataclass(frozen=True)
class RowNorm:
    """Each entry is at least ``least``·‖row‖^power of its record's row in ``rows``, and not −0."""

    rows: Origin
    order: int
    power: int
    least: float

    def times(self, factor: float) -> RowNorm | None:
        least = self.least * factor * (1 - _ULP)
        return replace(self, least=least) if SMALLEST < least < 1 / SMALLEST else None

    @staticmethod
    def of_sum(powers: Powers, count: int) -> RowNorm:
        """A sum of ``count`` powers."""
        return RowNorm(powers.rows, powers.order, powers.order, 1 - (count + 8) * _ULP)

    def root(self) -> RowNorm | None:
        """Of the square root of a sum of squares."""
        return replace(self, power=1, least=math.sqrt(self.least) * (1 - _ULP)) if self.power == self.order == 2 else None


@dataclass(frozen=True)
class RowFactor:
    """Each entry is not negative, and at most ``most``/‖row‖ for its record's row in ``rows``.

    ``over``: what it was divided by, and the largest number that was.
    """

    rows: Origin
    order: int
    most: float
    over: tuple[Origin, float] | None = None

    def times(self, factor: float) -> RowFactor:
        return replace(self, most=self.most * factor * (1 + _ULP), over=None)


@dataclass(frozen=True)
class Facts:
    """Facts about entries of one record each. ``joint``: about all of them together. ``regions``: where an entry can be other
    than 0; ``zeros``: where a condition can fail to hold."""

    joint: Joint = FREE
    regions: Regions = ()
    zeros: Regions = ()
    powers: Powers | None = None
    norm: RowNorm | None = None
    factor: RowFactor | None = None
    multiple: tuple[Origin, float] | None = None  # the array is another one times this number, or its opposite

    def moved(self, move: Move, shape: tuple[int, ...], *, again: bool) -> Facts:
        """For entries in other places; ``again``: some of them in several."""

        def lifted(part: np.ndarray) -> np.ndarray:
            return part if part.ndim == 0 else move(np.broadcast_to(part, shape))

        return replace(self.lifted(lifted), joint=FREE if again else self.joint)

    def lifted(self, lift: Move) -> Facts:
        """For entries in other places, none of them in several."""
        regions, zeros = (tuple(region.moved(lift) for region in part) for part in (self.regions, self.zeros))
        return replace(self, regions=regions, zeros=zeros, powers=None, multiple=None)


NOTHING = Facts()


def shortened(norm: RowNorm | None, rows: Origin | None, least: float, multiple: tuple[Origin, float] | None) -> Joint:
    """Of rows, or a multiple of them, divided by numbers with that norm, which are no smaller than ``least``."""
    if norm is None or norm.power != 1 or least < LEAST:
        return FREE
    times = 1.0 if norm.rows is rows else multiple[1] if multiple is not None and multiple[0] is norm.rows else None
    return FREE if times is None else _bounded(times / norm.least * (1 + _ULP), norm.order)


def multiplied(factor: RowFactor | None, rows: Origin | None, largest: float) -> Joint:
    """Of rows times factors, which are no larger than ``largest``."""
    if factor is None or factor.rows is not rows or largest > 1 / LEAST:
        return FREE
    return _bounded(factor.most * (1 + _ULP), factor.order)


def _bounded(most: float, order: int) -> Joint:
    """A bound of the L1 norm bounds the L2 norm as well."""
    if not SMALLEST < most < math.inf:
        return FREE
    return Joint(most, most) if order == 1 else Joint(l2=most)


def factor_over(norm: RowNorm | None, divisor: Origin | None, number: Any) -> RowFactor | None:
    """Of public numbers, none of them negative, divided by numbers with that norm."""
    if norm is None or norm.power != 1 or bool((number < 0).any()):
        return None
    most = float(np.max(number, initial=0.0))
    over = None if divisor is None else (divisor, most)
    return RowFactor(norm.rows, norm.order, most / norm.least * (1 + _ULP), over)
