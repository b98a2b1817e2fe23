"""What bounds the numbers of one record together: their norms, and which of them can be other than 0 at once.

A record in [−1, 1]^d moves a sum of rows by up to 2√d in L2; one whose row has norm at most C, by 2C at most. A record moves
each of k counts by 1; where the counts ask for values that exclude each other, it leaves one of them and joins another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit.claims import float_up
from dpaudit.sealed.origins import Origin

MOST_PLACES = 4 * 10**6  # numbers in a table of points and coordinates; what would need more is not looked at
_EXACT_SUMS = 10**4  # numbers that are added exactly
_ROOT_TWO = 1.4142135623730951  # the float above the root of 2

Move = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Joint:
    """Bounds on all numbers of one record together: their L1 and their L2 norm."""

    l1: float = math.inf
    l2: float = math.inf

    def norm(self, order: int) -> float:
        return self.l2 if order == 2 else self.l1

    def scaled(self, factor: float) -> Joint:
        return Joint(_times(self.l1, factor), _times(self.l2, factor))

    def both(self, other: Joint) -> Joint:
        """Where both hold."""
        return Joint(min(self.l1, other.l1), min(self.l2, other.l2))

    def plus(self, other: Joint) -> Joint:
        """Of a sum of two vectors (triangle inequality)."""
        return Joint(_plus(self.l1, other.l1), _plus(self.l2, other.l2))

    def over(self, places: int) -> Joint:
        """Where only so many numbers are other than 0: ‖x‖₂ ≤ ‖x‖₁ ≤ √m·‖x‖₂."""
        l1 = min(self.l1, _times(self.l2, root_up(Fraction(places))))
        return Joint(l1, min(self.l2, l1))

    def beside(self, other: Joint) -> Joint:
        """Of two vectors side by side: L2 norms add up by their squares."""
        if math.isinf(self.l2) or math.isinf(other.l2):
            return Joint(_plus(self.l1, other.l1))
        squares = Fraction(self.l2) ** 2 + Fraction(other.l2) ** 2
        return Joint(_plus(self.l1, other.l1), root_up(squares))

    def difference(self, *, one_sign: bool) -> Joint:
        """Of the difference of two such vectors: ‖a − b‖ ≤ ‖a‖ + ‖b‖; and ‖a − b‖² = ‖a‖² + ‖b‖² − 2⟨a, b⟩ ≤ 2C² in L2 where no
        coordinate changes its sign, since then ⟨a, b⟩ ≥ 0."""
        return Joint(2 * self.l1, _times(self.l2, _ROOT_TWO) if one_sign else 2 * self.l2)


FREE = Joint()


def _times(a: float, b: float) -> float:
    """a·b, rounded up; infinite stays infinite."""
    return math.inf if math.isinf(a) or math.isinf(b) else float_up(Fraction(a) * Fraction(b))


def _plus(a: float, b: float) -> float:
    return math.inf if math.isinf(a) or math.isinf(b) else float_up(Fraction(a) + Fraction(b))


@dataclass(frozen=True)
class Region:
    """A number can be other than 0 only where its record has a value of ``base`` in [low, high]."""

    base: Origin
    low: np.ndarray
    high: np.ndarray

    def moved(self, move: Move) -> Region:
        return replace(self, low=move(self.low), high=move(self.high))


Regions = tuple[Region, ...]


def both_regions(one: Regions, other: Regions) -> Regions:
    """Where a product of two numbers can be other than 0."""
    merged = {region.base: region for region in one}
    for region in other:
        known = merged.get(region.base)
        ends = (region.low, region.high)
        if known is not None:
            ends = np.maximum(known.low, region.low), np.minimum(known.high, region.high)
        merged[region.base] = Region(region.base, *ends)
    return tuple(merged.values())


def either_region(one: Regions, other: Regions) -> Regions:
    """Where one of two numbers can be other than 0."""
    by_base = {region.base: region for region in one}
    pairs = [(by_base[region.base], region) for region in other if region.base in by_base]
    return tuple(Region(a.base, np.minimum(a.low, b.low), np.maximum(a.high, b.high)) for a, b in pairs)


@dataclass(frozen=True)
class Shares:
    """What each record adds to each of some coordinates: at most ``size``, and 0 outside the regions.

    ``one_sign``: no coordinate has shares of both signs. Changing a record moves no coordinate further than it moves its share.
    """

    regions: Regions
    size: np.ndarray
    one_sign: bool

    def scaled(self, weights: np.ndarray) -> Shares:
        """Of the coordinates times public weights, none of them negative; rounded up."""
        short = all(
            bool((part == part.astype(np.float32)).all()) for part in (self.size, weights)
        )  # products of 24 bits are exact
        size = np.asarray(self.size * weights)
        return replace(self, size=size if short else np.nextafter(size, np.inf))

    def moved(self, move: Move) -> Shares:
        """Of coordinates in other places."""
        regions = tuple(region.moved(lambda end: move(np.broadcast_to(end, self.size.shape))) for region in self.regions)
        return Shares(regions, move(self.size), self.one_sign)

    @cached_property
    def peak(self) -> tuple[int, Joint]:
        """How many shares of one record can be other than 0 at once, and the norms of all of them.

        Intervals that share a point share the lower end of one of them, and boxes do so in each direction: it is enough to
        look at those ends.
        """
        size = self.size.ravel()
        rows = np.ones((1, len(size)), dtype=bool)
        for region in self.regions:
            rows = _together(rows, *(np.broadcast_to(end, self.size.shape).ravel() for end in (region.low, region.high)))
        places = int((rows & (size > 0)).sum(axis=1).max(initial=0))
        return places, Joint(_longest(rows, size, 1), _longest(rows, size, 2))

    def joint(self, *, removal: bool) -> tuple[int, Joint]:
        """The same for the move of all coordinates together, when a record is replaced or removed."""
        places, norms = self.peak
        return (places, norms) if removal else (2 * places, norms.difference(one_sign=self.one_sign))


def _together(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Sets of coordinates that can be other than 0 at once, cut down by what one more base value allows."""
    points = np.unique(low)
    if len(points) * len(low) > MOST_PLACES:
        return rows
    inside = np.unique((low <= points[:, np.newaxis]) & (points[:, np.newaxis] <= high), axis=0)
    if len(rows) * inside.size > MOST_PLACES:
        return rows
    return np.unique((rows[:, np.newaxis] & inside[np.newaxis]).reshape(-1, len(low)), axis=0)


def _longest(rows: np.ndarray, size: np.ndarray, order: int) -> float:
    """The largest norm of the sizes in one of the sets, rounded up; exact sums, but for many sets that are equally long."""
    if not np.isfinite(size).all():
        return math.inf
    sums = rows @ size**order
    top, error = float(sums.max(initial=0.0)), len(size) * 2.0**-50  # far above the rounding of the sums
    near = rows[sums >= top * (1 - error)] & (size > 0)
    if len(np.unique(size[size > 0])) == 1:
        upper = int(near.sum(axis=1).max(initial=0)) * Fraction(float(size.max())) ** order
    elif near.sum() <= _EXACT_SUMS:
        upper = max((sum((Fraction(float(s)) ** order for s in size[row]), Fraction(0)) for row in near), default=Fraction(0))
    else:
        upper = Fraction(top * (1 + error))
    return float_up(upper) if order == 1 else root_up(upper)


def root_up(square: Fraction) -> float:
    """Its root, rounded up."""
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def joined_shares(parts: Sequence[Shares], shapes: Sequence[Any], order: np.ndarray) -> Shares:
    """Shares of coordinates side by side, ``order`` telling where each of them goes. A base that one part does not know
    allows all of its coordinates."""
    bases = list(dict.fromkeys(region.base for part in parts for region in part.regions))
    regions = []
    for base in bases:
        ends: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for part, shape in zip(parts, shapes, strict=True):
            known = next((region for region in part.regions if region.base is base), None)
            for side, end in enumerate((np.array(-np.inf), np.array(np.inf)) if known is None else (known.low, known.high)):
                ends[side].append(np.broadcast_to(end, shape).ravel())
        regions.append(Region(base, *(np.concatenate(side)[order] for side in ends)))
    size = np.concatenate([np.broadcast_to(part.size, shape).ravel() for part, shape in zip(parts, shapes, strict=True)])[order]
    return Shares(tuple(regions), size, all(part.one_sign for part in parts))
