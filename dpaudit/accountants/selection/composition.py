"""Composes releases of which some are ε-bounded range: few equal ones exactly, others by the better of two bounds.

Parameters must be fixed in advance, queries need not be. Rényi: at each order the worst of the pairs of Dong, Durfee, Rogers
2020 counts, and moments multiply also where t changes from release to release.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpaudit.accountants.interface import Least
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart, Part
from dpaudit.accountants.losses.renyi import divergence_of, divergence_parts
from dpaudit.accountants.selection.adaptive_optimum import MOST_RELEASES, adaptive_epsilon
from dpaudit.claims import InvalidValue
from dpaudit.claims.balls import Ball, ball, precision
from dpaudit.ledger.spending.zcdp_sums import best_order, from_renyi

RANGES, OPTIMUM = "bounded range, Rényi divergences", "bounded range, adaptive optimum"
MIXED = "bounded range, numerical composition"
_BITS = 192
_MIXED = 10**4  # releases; beyond, the contour of the one law for all intervals is not tried

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RangeComposition:
    """The least of what is proven of ε-bounded range."""

    name: str = "bounded range"
    fixed: bool = True

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        ranges = [part for part in parts if isinstance(part, Part) and part.range() is not None]
        if not ranges or not delta:
            return None
        found = [Least(range_renyi(parts, delta), delta, RANGES)]
        sizes, count = {part.range() for part in ranges}, sum(part.count for part in ranges)
        if len(ranges) == len(parts) and len(sizes) == 1 and count <= MOST_RELEASES:
            found.append(Least(adaptive_epsilon(sizes.pop() or Fraction(0), count, delta), delta, OPTIMUM))
        elif len(ranges) < len(parts) and sum(part.count for part in parts) <= _MIXED:
            with suppress(InvalidValue, ArithmeticError):
                found.append(Least(compose(parts, delta).upper, delta, MIXED))
        return min(found, key=lambda one: one.epsilon)


def range_renyi(parts: Sequence[AnyPart], delta: Fraction) -> Fraction:
    """An ε at δ at the best order, rounded up."""
    ranges = [(part.range() or Fraction(0), part.count) for part in parts if isinstance(part, Part) and part.range() is not None]
    total, rest = divergence_parts([part for part in parts if not isinstance(part, Part) or part.range() is None], delta)
    left = delta - rest.added
    if left <= 0:
        raise InvalidValue("delta", delta, "larger: Rényi divergences give no ε at it")

    def divergence(order: Floats) -> Floats:
        z = (order - 1).astype(np.complex128)
        others = sum((count * (law.log_moment(z) / z + float(law.top)).real for law, count in rest.laws), float(total) * order)
        return np.asarray(others + sum(count * _float_moment(float(size), order - 1) / (order - 1) for size, count in ranges))

    order = best_order(divergence, left)
    with precision(max(_BITS, rest.bits)):
        known = ball(total * order) + divergence_of(rest, order)
        for size, count in ranges:
            known += count * log_range_moment(size, order - 1) / ball(order - 1)
        return from_renyi(known, order, left)


def log_range_moment(epsilon: Fraction, c: Fraction) -> Ball:
    """K(c) = max_t log(q_t e^{ct} + (1 − q_t) e^{c(t−ε)}), at the precision of the caller.

    With τ = e^t and E = e^ε it is the maximum of τ^c ((E − E^{−c}) − τ(1 − E^{−c}))/(E − 1), which lies at
    τ = c(E − E^{−c})/((c+1)(1 − E^{−c})).
    """
    grown, shrunk, order = ball(epsilon).exp(), ball(-epsilon * c).exp(), ball(c)
    at = order * (grown - shrunk) / ((order + 1) * (1 - shrunk))
    return order * at.log() + ((grown - shrunk) / ((order + 1) * (grown - 1))).log()


def _float_moment(epsilon: float, c: Floats) -> Floats:
    """The same in floats, for the search of an order; E is divided out where it would overflow."""
    shrunk = -np.expm1(-epsilon * c)
    both = -np.expm1(-epsilon * (1 + c))
    at = np.log(c * both / ((c + 1) * shrunk)) + epsilon
    return np.asarray(c * at + np.log(both / ((c + 1) * -np.expm1(-epsilon))))
