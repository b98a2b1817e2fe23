"""Events of the last bits of a float: each says of every output whether it happened, in words, and in JSON to be drawn again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpaudit.auditors.floats.preimage import SAMPLERS
from dpaudit.claims import InvalidValue, whole

LARGEST_MODULUS = 63
MOST_CELLS = 10_000


class Feature(Protocol):
    """What the last bits of an output have, or have not."""

    def holds(self, values: np.ndarray) -> np.ndarray:
        """For finite numbers, one by one."""

    def words(self) -> str:
        """After "outputs"."""

    def to_dict(self) -> dict[str, Any]:
        """From which ``read_event`` makes the same again."""


@dataclass(frozen=True)
class Depth:
    """x·2^k is no whole number."""

    places: int

    def holds(self, values: np.ndarray) -> np.ndarray:
        return places(values) > self.places

    def words(self) -> str:
        return f"with bits below 2^{-self.places}"

    def to_dict(self) -> dict[str, Any]:
        return {"feature": "depth", "places": self.places}


@dataclass(frozen=True)
class Residues:
    """The mantissa, a whole number of units in the last place, leaves one of these remainders; which, depends on the binade.

    Multiples of p·2^-k have mantissas that are multiples of p (p odd); a value that was added to them moves the remainder.
    """

    modulus: int
    cells: frozenset[tuple[int, int]]  # (binade, remainder)

    def holds(self, values: np.ndarray) -> np.ndarray:
        binades, remainders = residues(values, self.modulus)
        lowest, highest = (pick(binade for binade, _ in self.cells) for pick in (min, max))
        table = np.zeros((highest - lowest + 1, self.modulus), dtype=bool)
        for binade, remainder in self.cells:
            table[binade - lowest, remainder] = True
        inside = (binades >= lowest) & (binades <= highest)
        return inside & table[np.where(inside, binades - lowest, 0), remainders]

    def words(self) -> str:
        named = sorted({remainder for _, remainder in self.cells})
        which = f"remainder {named[0]}" if len(named) == 1 else "certain remainders"
        return f"whose last places, counted in units, leave {which} modulo {self.modulus}"

    def to_dict(self) -> dict[str, Any]:
        return {"feature": "residues", "modulus": self.modulus, "cells": [list(cell) for cell in sorted(self.cells)]}


@dataclass(frozen=True)
class Unreachable:
    """No output of this sampler, added to this centre, is x."""

    sampler: str
    centre: float
    scale: float

    def holds(self, values: np.ndarray) -> np.ndarray:
        return ~SAMPLERS[self.sampler](values, self.centre, self.scale)

    def words(self) -> str:
        return f"that {self.sampler} cannot give on D'"

    def to_dict(self) -> dict[str, Any]:
        return {"feature": "unreachable", "sampler": self.sampler, "centre": self.centre, "scale": self.scale}


@dataclass(frozen=True)
class LowBitEvent:
    """Outputs of one column within [low, high) that have a feature. NaN and infinities never do."""

    feature: Feature
    low: float = -math.inf
    high: float = math.inf
    column: int = 0

    def holds(self, values: np.ndarray) -> np.ndarray:
        finite = np.isfinite(values)
        inside = finite & (values >= self.low) & (values < self.high)
        return inside & self.feature.holds(np.where(finite, values, 0.0))

    def words(self) -> str:
        ends = [math.isfinite(end) for end in (self.low, self.high)]
        between = f" between {self.low:.4g} and {self.high:.4g}" if all(ends) else ""
        between = between or (f" above {self.low:.4g}" if ends[0] else f" below {self.high:.4g}" if ends[1] else "")
        return f"outputs{between} {self.feature.words()}"

    def to_dict(self) -> dict[str, Any]:
        ends = {"low": self.low, "high": self.high}
        finite = {name: end for name, end in ends.items() if math.isfinite(end)}
        return {**self.feature.to_dict(), **finite, "column": self.column}


def read_event(facts: Mapping[str, Any]) -> LowBitEvent:
    """The event of ``to_dict``. Raises InvalidValue, KeyError, TypeError or ValueError for what is none."""
    low, high = float(facts.get("low", -math.inf)), float(facts.get("high", math.inf))
    return LowBitEvent(_feature(facts), low, high, whole(facts["column"], "column", 0))


def _feature(facts: Mapping[str, Any]) -> Feature:
    kind = facts["feature"]
    if kind == "depth":
        return Depth(int(facts["places"]))
    if kind == "residues":
        modulus = whole(facts["modulus"], "modulus", 3, LARGEST_MODULUS)
        cells = frozenset((int(binade), int(remainder)) for binade, remainder in facts["cells"])
        known = all(-1100 <= binade <= 1100 and 0 <= remainder < modulus for binade, remainder in cells)
        if not known or not 0 < len(cells) <= MOST_CELLS:
            raise InvalidValue("cells", len(cells), "binades of floats with remainders of the modulus")
        return Residues(modulus, cells)
    sampler = facts["sampler"]
    if kind != "unreachable" or sampler not in SAMPLERS:
        raise InvalidValue("feature", kind, "depth, residues or unreachable by a known sampler")
    return Unreachable(sampler, float(facts["centre"]), float(facts["scale"]))


def places(values: np.ndarray) -> np.ndarray:
    """The least k with x·2^k ∈ ℤ, exactly; a very small number for 0, NaN and infinities."""
    ordinary = np.isfinite(values) & (values != 0)
    mantissa, exponent = np.frexp(np.where(ordinary, values, 0.5))
    units = np.ldexp(mantissa, 53).astype(np.int64)
    zeros = np.frexp((units & -units).astype(np.float64))[1] - 1
    return np.where(ordinary, 53 - exponent - zeros, -(10**6))


def residues(values: np.ndarray, modulus: int) -> tuple[np.ndarray, np.ndarray]:
    """For finite numbers: the binade e with ½ ≤ |x|/2^e < 1, and the remainder of x·2^(53−e), a whole number."""
    mantissa, exponent = np.frexp(values)
    return exponent.astype(np.int64), np.ldexp(mantissa, 53).astype(np.int64) % modulus
