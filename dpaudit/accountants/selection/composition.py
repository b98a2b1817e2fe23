"""Composes releases of which some are ε-bounded range: few equal ones exactly, others by the better of two bounds.

Parameters must be fixed in advance, queries need not be. Rényi: at each order the worst of the pairs of Dong, Durfee, Rogers
2020 counts, and moments multiply also where t changes from release to release.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.interface import Least
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart, Part
from dpaudit.accountants.losses.renyi import renyi_epsilon
from dpaudit.accountants.selection.adaptive_optimum import adaptive_epsilon, tractable
from dpaudit.claims import InvalidValue

RANGES, OPTIMUM = "bounded range, Rényi divergences", "bounded range, adaptive optimum"
MIXED = "bounded range, numerical composition"
_MIXED = 10**4  # releases; beyond, the contour of the one law for all intervals is not tried


@dataclass(frozen=True)
class RangeComposition:
    """The least of what is proven of ε-bounded range."""

    name: str = "bounded range"
    fixed: bool = True

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        ranges = [part for part in parts if isinstance(part, Part) and part.range() is not None]
        if not ranges or not delta:
            return None
        bounds: list[Least] = []
        with suppress(InvalidValue, ArithmeticError):
            bounds.append(Least(renyi_epsilon(parts, delta).upper, delta, RANGES))
        (size, *others), count = {part.range() or Fraction(0) for part in ranges}, sum(part.count for part in ranges)
        if len(ranges) == len(parts) and not others and tractable(size, count):
            bounds.append(Least(adaptive_epsilon(size, count, delta), delta, OPTIMUM))
        elif len(ranges) < len(parts) and sum(part.count for part in parts) <= _MIXED:
            with suppress(InvalidValue, ArithmeticError):
                bounds.append(Least(compose(parts, delta).upper, delta, MIXED))
        return min(bounds, key=lambda one: one.epsilon, default=None)
