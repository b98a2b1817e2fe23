"""Conditions on records, entry by entry, and what is chosen by them. A condition is 0 or 1; ``where`` knows what it tells.

Each operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.sealed.dependence import distinct
from dpaudit.sealed.joint_bounds import Region, both_regions, either_region
from dpaudit.sealed.row_facts import NOTHING, Facts
from dpaudit.sealed.trace import ANY_BITS, NOBODY, Elements, Precision, Private, Range, Told, fits
from dpaudit.sealed.traces import ranges
from dpaudit.sealed.traces.entry_facts import facts_of_choice, known_quotient
from dpaudit.sealed.traces.functions import Operand, entrywise, exact_kind, operand
from dpaudit.sealed.traces.ranges import HUGE, ONE, ZERO

TRUTH: Range = (ZERO, ONE, False)
_MIRRORED: dict[np.ufunc, np.ufunc] = {
    np.less: np.greater,
    np.less_equal: np.greater_equal,
    np.greater: np.less,
    np.greater_equal: np.less_equal,
}


def compared(ufunc: np.ufunc) -> Callable[[Any, Any], Private | None]:
    """The known operation for ==, !=, <, ≤, > and ≥: with public numbers, or with values of the same records."""

    def operation(a: Any, b: Any) -> Private | None:
        one, other = operand(a), operand(b)
        if one is None or other is None or not (one.stable and other.stable):
            return None
        narrowing = None
        if other.public and not one.public:
            narrowing = replace(_told(ufunc, one.trace, other.trace.low), origin=one.origin)
        elif one.public and not other.public:
            narrowing = replace(_told(_MIRRORED.get(ufunc, ufunc), other.trace, one.trace.low), origin=other.origin)
        facts = _facts_of_comparison(ufunc, one, other)
        if ufunc is np.not_equal and other.public and one.value.dtype == bool and not other.value.any():
            narrowing, facts = one.trace.told, one.facts  # a condition is not 0 where it holds
        return entrywise(ufunc, [one, other], TRUTH, 0, told=narrowing, facts=facts)

    return operation


def _facts_of_comparison(ufunc: np.ufunc, one: Operand, other: Operand) -> Facts:
    """Where x < c and the like hold, and where they do not, as closed ranges of floats: x < c is x ≤ the float below c."""
    private, number, kind = (one, other, ufunc) if other.public else (other, one, _MIRRORED.get(ufunc, ufunc))
    if private.public or not number.public or private.origin is None or private.trace.nan or not one_each(private):
        return NOTHING
    c = number.trace.low
    if not bool((c.astype(number.value.dtype) == number.value).all()):  # read as floats, the numbers are others
        return NOTHING
    below, above = np.nextafter(c, -np.inf), np.nextafter(c, np.inf)
    ends: dict[np.ufunc, tuple[Any, Any, Any, Any]] = {
        np.less: (-np.inf, below, c, np.inf),
        np.less_equal: (-np.inf, c, above, np.inf),
        np.greater: (above, np.inf, -np.inf, c),
        np.greater_equal: (c, np.inf, -np.inf, below),
        np.equal: (c, c, -np.inf, np.inf),
        np.not_equal: (-np.inf, np.inf, c, c),
    }
    holds = [np.asarray(end, dtype=float) for end in ends[kind]]
    base = private.origin.values
    return Facts(regions=(Region(base, *holds[:2]),), zeros=(Region(base, *holds[2:]),))


def one_each(given: Operand) -> bool:
    """Has every record one entry, and none two?"""
    shape = given.value.shape
    if given.removal:
        return all(length == 1 for place, length in enumerate(shape) if place != len(shape) + given.trace.axis)
    return distinct(np.broadcast_to(given.trace.ids, shape).ravel())


def _told(ufunc: np.ufunc, trace: Elements, number: np.ndarray) -> Told:
    """What x < c and the like tell about x. NaN is neither less, nor equal, nor greater."""
    limits = trace.range

    def below(nan: bool) -> Range:
        return ranges.cut(limits, -np.inf, number, nan=nan)

    def above(nan: bool) -> Range:
        return ranges.cut(limits, number, np.inf, nan=nan)

    if ufunc in (np.less, np.less_equal):
        return Told(trace, below(nan=False), above(nan=True))
    if ufunc in (np.greater, np.greater_equal):
        return Told(trace, above(nan=False), below(nan=True))
    equal = ranges.cut(limits, number, number, nan=False)
    return Told(trace, equal, limits) if ufunc is np.equal else Told(trace, limits, equal)


def is_number(ufunc: np.ufunc) -> Callable[[Any], Private | None]:
    """The known operation for np.isnan, np.isfinite and np.isinf."""

    def operation(a: Any) -> Private | None:
        source = operand(a)
        if source is None or not source.stable:
            return None
        trace = source.trace
        low, high, _ = trace.range
        kinds: dict[np.ufunc, tuple[Range, Range]] = {
            np.isnan: (trace.range, (low, high, False)),
            np.isfinite: (ranges.cut(trace.range, -HUGE, HUGE, nan=False), trace.range),
            np.isinf: ((low, high, False), ranges.cut(trace.range, -HUGE, HUGE, nan=True)),
        }
        never = trace.finite and ufunc is not np.isfinite
        return entrywise(ufunc, [source], (ZERO, ZERO, False) if never else TRUTH, 0, told=Told(trace, *kinds[ufunc]))

    return operation


def is_member(element: Any, test_elements: Any, **more: Any) -> Private | None:
    """np.isin of public numbers."""
    source, members = operand(element), operand(test_elements)
    if more or source is None or source.public or not source.stable or members is None or not members.public:
        return None
    return entrywise(lambda value: np.isin(value, members.value), [source], TRUTH, 0)


def logic(ufunc: np.ufunc) -> Callable[..., Private | None]:
    """The known operation for and, or, xor and not, of truth values (&, |, ^, ~) or of any numbers (np.logical_…)."""
    bitwise = ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert)

    def operation(*operands: Any) -> Private | None:
        sources = [operand(o) for o in operands]
        known = [o for o in sources if o is not None and o.stable and (not bitwise or o.value.dtype == bool)]
        if len(known) < len(operands):
            return None
        narrowing = known[0].trace.told if ufunc in (np.invert, np.logical_not) and known[0].value.dtype == bool else None
        turned = None if narrowing is None else replace(narrowing, true=narrowing.false, false=narrowing.true)
        return entrywise(ufunc, known, TRUTH, 0, told=turned, facts=_facts_of_logic(ufunc, known))

    return operation


def _facts_of_logic(ufunc: np.ufunc, known: list[Operand]) -> Facts:
    """Both hold where each does; one fails where either does; and so on."""
    if any(o.value.dtype != bool for o in known):
        return NOTHING
    first, last = known[0].facts, known[-1].facts
    if ufunc in (np.invert, np.logical_not):
        return Facts(regions=first.zeros, zeros=first.regions)
    if ufunc in (np.bitwise_and, np.logical_and):
        return Facts(regions=both_regions(first.regions, last.regions), zeros=either_region(first.zeros, last.zeros))
    if ufunc in (np.bitwise_or, np.logical_or):
        return Facts(regions=either_region(first.regions, last.regions), zeros=both_regions(first.zeros, last.zeros))
    return NOTHING


def where(condition: Any, *choices: Any) -> Private | None:
    """np.where(condition, a, b): by a public condition, or by one on the same records."""
    asked, either = operand(condition), [operand(choice) for choice in choices]
    if asked is None or not asked.stable or len(either) != 2 or either[0] is None or either[1] is None:
        return None
    a, b = _knowing(either[0], asked.trace.told, True), _knowing(either[1], asked.trace.told, False)
    bits, slop = max(a.bits, b.bits), max(a.slop, b.slop)
    if asked.public:
        return _by_public(asked.value, a, b, bits, slop)
    facts = facts_of_choice(asked, either[0], either[1], asked.trace.told)
    chosen = entrywise(np.where, [asked, a, b], ranges.hull(a.trace.range, b.trace.range), bits, slop=slop, facts=facts)
    if chosen is None or not isinstance(chosen.trace, Elements):
        return None
    choices = (either[0].trace, a.trace.range), (either[1].trace, b.trace.range)
    return chosen.with_trace(chosen.value, replace(chosen.trace, choices=choices))


def _knowing(choice: Operand, narrowing: Told | None, holds: bool) -> Operand:
    """A choice whose range is narrowed by what the condition tells about it."""
    if narrowing is None:
        return choice
    limits = narrowing.true if holds else narrowing.false
    low, high, nan = _within(choice.trace, narrowing.trace, limits)
    high = known_quotient(choice, narrowing, limits[0]) if high is choice.trace.high else high
    return replace(choice, trace=replace(choice.trace, low=low, high=high, nan=nan))


def _within(trace: Elements, about: Elements, limits: Range) -> Range:
    """Where the values of ``trace`` lie when those of ``about`` lie in the range ``limits``."""
    if trace is about:
        return limits
    if not trace.choices:
        return trace.range
    parts = [(range_, _within(choice, about, limits)) for choice, range_ in trace.choices]
    (one, other) = (ranges.cut(part, known[0], known[1], nan=known[2]) for part, known in parts)
    return ranges.hull(one, other)


def _by_public(condition: np.ndarray, a: Operand, b: Operand, bits: int, slop: float) -> Private | None:
    """Each entry is one of the two, and everybody knows which: they need not belong to the same record."""
    if a.removal or b.removal:
        asked = Operand(condition, Elements(np.array(NOBODY), ZERO, ONE), 0, public=True)
        return entrywise(np.where, [asked, a, b], ranges.hull(a.trace.range, b.trace.range), bits, slop=slop)
    value = np.where(condition, a.value, b.value)
    if a.public and b.public:
        return None
    ids, low, high = (np.where(condition, getattr(a.trace, part), getattr(b.trace, part)) for part in ("ids", "low", "high"))
    trace = Elements(ids, low, high, a.trace.nan or b.trace.nan)
    precision = Precision(bits if fits(bits, trace.size) else ANY_BITS, trace.size, slop)
    return Private(value, trace, precision, False) if exact_kind(value, trace.size) else None
