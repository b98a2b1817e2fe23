"""What operations on entries of one record each keep of the facts about them, and which they add."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from dpaudit.sealed.joint_bounds import FREE, Regions, both_regions
from dpaudit.sealed.origins import Origin
from dpaudit.sealed.row_facts import NOTHING, Facts, Powers, RowFactor, RowNorm, factor_over, multiplied, shortened
from dpaudit.sealed.trace import Elements, Range, Told

Shape = tuple[int, ...]


class Entries(Protocol):
    """Entries of one record each, or public numbers: what ``functions.Operand`` is."""

    @property
    def value(self) -> np.ndarray: ...
    @property
    def trace(self) -> Elements: ...
    @property
    def public(self) -> bool: ...
    @property
    def origin(self) -> Origin | None: ...
    @property
    def facts(self) -> Facts: ...


def facts_of_product(one: Entries, other: Entries) -> Facts:
    """A product is 0 where either factor is. Rows times factors that are known to shorten them are short."""
    shape = np.broadcast_shapes(one.value.shape, other.value.shape)
    joint, norm, factor, multiple = FREE, None, None, None
    for side, by in ((one, other), (other, one)):
        if side.value.shape == shape:  # no entry of it stands in several places
            joint = joint.both(side.facts.joint.scaled(by.trace.size))
            joint = joint.both(multiplied(by.facts.factor, side.origin, by.trace.size))
        if by.public and by.value.size and side.origin is not None and bool((by.value == by.value.flat[0]).all()):
            multiple = (side.origin, float(np.abs(by.value.flat[0]))) if side.value.shape == shape else None
        if by.public and bool((by.value > 0).all()) and by.value.size:
            norm = side.facts.norm and side.facts.norm.times(float(by.value.min()))
            factor = side.facts.factor and side.facts.factor.times(float(by.value.max()))
    square = one.origin is not None and one.origin is other.origin
    powers = Powers(one.origin, 2) if square and one.origin is not None else None
    regions = both_regions(one.facts.regions, other.facts.regions)
    return Facts(joint, regions, powers=powers, norm=norm, factor=factor, multiple=multiple)


def facts_of_quotient(one: Entries, other: Entries) -> Facts:
    """A quotient is 0 where the numerator is. Rows divided by numbers no smaller than their norm are short."""
    shape = np.broadcast_shapes(one.value.shape, other.value.shape)
    least = float(np.minimum(np.abs(other.trace.low), np.abs(other.trace.high)).min(initial=np.inf))
    joint = FREE
    if one.value.shape == shape and least > 0 and bool((other.trace.low > 0).all() or (other.trace.high < 0).all()):
        joint = one.facts.joint.scaled(float(np.nextafter(1 / least, np.inf)))
        joint = joint.both(shortened(other.facts.norm, one.origin, least, one.facts.multiple))
    norm, factor = None, None
    if other.public and other.value.size and bool((other.value > 0).all()):
        norm = one.facts.norm and one.facts.norm.times(1 / float(other.value.max()))
        factor = one.facts.factor and one.facts.factor.times(1 / float(other.value.min()))
    if one.public:
        factor = factor_over(other.facts.norm, other.origin, one.value)
    return Facts(joint, one.facts.regions, norm=norm, factor=factor)


def over_norm(one: Entries, other: Entries) -> Range | None:
    """The range of public positive numbers over norms, which may be 0: the quotient is then infinite, never NaN."""
    if not one.public or other.facts.norm is None or other.trace.nan or not one.value.size or not (one.value > 0).all():
        return None
    if bool((other.trace.low < 0).any()):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(one.value / other.trace.high), np.asarray(one.value / np.abs(other.trace.low)), False


def facts_of_extreme(monotone: np.ufunc, one: Entries, other: Entries) -> Facts:
    """A maximum is at least a norm; a minimum of numbers that are not negative is at most a factor."""
    norms = [a.facts.norm for a, b in ((one, other), (other, one)) if a.facts.norm and _never_minus_zero(b)]
    if monotone is np.maximum:
        return Facts(norm=norms[0]) if norms else NOTHING
    factors = [a.facts.factor for a, b in ((one, other), (other, one)) if a.facts.factor and bool((b.trace.low >= 0).all())]
    return Facts(factor=factors[0]) if factors else NOTHING


def _never_minus_zero(operand: Entries) -> bool:
    if operand.public:
        return not bool((np.signbit(operand.value) & (operand.value == 0)).any())
    return bool((operand.trace.low > 0).all()) or operand.facts.norm is not None


def facts_of_clip(source: Entries, low: Any, high: Any) -> Facts:
    """Clipped to a range that holds 0, numbers come no further from it, and 0 stays."""
    down = low is None or bool((np.asarray(low) <= 0).all())
    up = high is None or bool((np.asarray(high) >= 0).all())
    facts = Facts(source.facts.joint, source.facts.regions) if down and up else NOTHING
    factor = source.facts.factor if down and up else None
    minus_zero = low is not None and bool((np.signbit(low) & (np.asarray(low) == 0)).any())
    norm = source.facts.norm if high is None and not minus_zero else None
    return replace(facts, factor=factor, norm=norm)


def facts_of_choice(asked: Entries, a: Entries, b: Entries, told: Told | None) -> Facts:
    """np.where(asked, a, b): 0 where the chosen one is 0. Norms and factors hold where they hold for both."""
    regions: Regions = ()
    if _zero(b):
        regions = both_regions(asked.facts.regions, a.facts.regions)
    elif _zero(a):
        regions = both_regions(asked.facts.zeros, b.facts.regions)
    shape = np.broadcast_shapes(asked.value.shape, a.value.shape, b.value.shape)
    sides = [side for side, other in ((a, b), (b, a)) if _zero(other) and side.value.shape == shape]
    joint = sides[0].facts.joint if sides else FREE
    holds, fails = (None, None) if told is None else ((told.trace, told.true), (told.trace, told.false))
    return Facts(joint, regions, norm=_common_norm(_norm(a, holds), _norm(b, fails)),
                 factor=_common_factor(_factor(a, holds), _factor(b, fails)))  # fmt: skip


def known_quotient(choice: Entries, told: Told, lowest: np.ndarray) -> np.ndarray:
    """The upper ends of a/r, chosen only where r, which the condition is about, is no smaller than ``lowest``."""
    factor, high = choice.facts.factor, choice.trace.high
    if factor is None or factor.over is None or factor.over[0] is not told.origin or not bool((lowest > 0).all()):
        return high
    return np.minimum(high, factor.over[1] / lowest)


Known = tuple[Elements, Range] | None


def _norm(choice: Entries, known: Known) -> RowNorm | None:
    """A public k > 0, chosen only where r ≥ a‖row‖ is at most h, is at least (k/h)·a‖row‖."""
    if not choice.public:
        return choice.facts.norm
    norm, most = _told_norm(known)
    if norm is None or not choice.value.size or not bool((choice.value > 0).all()):
        return None
    return norm.times(float(choice.value.min()) / most)


def _factor(choice: Entries, known: Known) -> RowFactor | None:
    """A public k ≥ 0, chosen only where r ≥ a‖row‖ is at most h, is at most (k·h/a)/‖row‖."""
    if not choice.public:
        return choice.facts.factor
    norm, most = _told_norm(known)
    if norm is None or not choice.value.size or not bool((choice.value >= 0).all()):
        return None
    return RowFactor(norm.rows, norm.order, float(choice.value.max()) * most / norm.least).times(1.0)


def _told_norm(known: Known) -> tuple[RowNorm | None, float]:
    if known is None or known[0].facts.norm is None or known[0].facts.norm.power != 1 or known[1][2]:
        return None, 0.0
    most = float(np.max(known[1][1], initial=0.0))
    return (known[0].facts.norm, most) if 0 < most < np.inf else (None, 0.0)


def _common_norm(one: RowNorm | None, other: RowNorm | None) -> RowNorm | None:
    if one is None or other is None or (one.rows, one.order, one.power) != (other.rows, other.order, other.power):
        return None
    return min(one, other, key=lambda norm: norm.least)


def _common_factor(one: RowFactor | None, other: RowFactor | None) -> RowFactor | None:
    if one is None or other is None or (one.rows, one.order) != (other.rows, other.order):
        return None
    return max(one, other, key=lambda factor: factor.most)


def _zero(operand: Entries) -> bool:
    return operand.public and not operand.value.any()
