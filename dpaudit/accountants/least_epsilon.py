"""The least ε that provably holds at δ for releases about one record: sums of ε, sums of ρ, or the exact composition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.fixed_laws import NUMERICAL, RDP
from dpaudit.accountants.interface import Group, Least
from dpaudit.accountants.losses.parts import AnyPart, Part
from dpaudit.accountants.registry import ACCOUNTANTS, PLAIN
from dpaudit.accountants.sums import ZCDP

__all__ = ["NUMERICAL", "PARALLEL", "RDP", "ZCDP", "Group", "Least", "least"]

PARALLEL = " per record, parallel over disjoint cohorts"
_WORTH = Fraction(999, 1000)
_TRIED = 64  # groups that are composed numerically, the costliest first


def least(groups: Iterable[Group], delta: Fraction, *, fixed: bool, limit: Fraction | None = None) -> Least:
    """The bound that holds for every record: the largest of the groups' least ones, and the largest δ.

    ``fixed``: parameters were fixed in advance. Only then may laws of losses or Rényi divergences be composed; those of one
    entry, so many equal releases, always were.
    ``limit``: an ε that is asked for; a plain sum, preferred where little is gained by more, is not preferred above it.
    Raises ``InvalidValue`` where no finite ε exists at δ.
    """
    sums = sorted(((PLAIN.bound(_key(group), delta), group) for group in groups), key=lambda pair: pair[0].epsilon, reverse=True)
    worst, spent = Least(Fraction(0), Fraction(0), ""), Fraction(0)
    for place, (bound, group) in enumerate(sums):
        if bound.epsilon > worst.epsilon or bound.delta > delta:  # else this record pays less whatever the method
            composed = place < _TRIED and (fixed or _is_one_plan(group))
            bound = replace(_least(_key(group), delta, composed, limit), group=group)
        spent = max(spent, bound.delta)
        worst = max(worst, bound, key=lambda each: each.epsilon)
    method = worst.method or next((bound.method for bound, _ in sums if bound.method), "")  # released, at no cost
    return Least(worst.epsilon, spent, method + PARALLEL if method else "nothing released", worst.group)


def _least(parts: tuple[AnyPart, ...], delta: Fraction, fixed: bool, limit: Fraction | None) -> Least:
    """The least of the bounds; a pure one, with δ = 0, also where the others are less than a thousandth below it."""
    plain = PLAIN.bound(parts, delta)
    best = min((plain, *_others(parts, delta, fixed)), key=lambda each: (each.delta > delta, each.epsilon))
    little = best.epsilon > plain.epsilon * _WORTH and (limit is None or plain.epsilon <= limit or best.epsilon > limit)
    return plain if not plain.delta and little else best


def _others(parts: tuple[AnyPart, ...], delta: Fraction, fixed: bool) -> Iterator[Least]:
    """What the other accountants prove; of those for fixed parameters the first that answers."""
    composed = False
    for accountant in ACCOUNTANTS:
        if accountant is PLAIN or (accountant.fixed and (composed or not fixed)):
            continue
        bound = accountant.bound(parts, delta)
        if bound is not None:
            composed = composed or accountant.fixed
            yield bound


def _is_one_plan(group: Group) -> bool:
    """Is it one entry that stands for several equal releases?"""
    return group.total() == 1 and all(part.count > 1 for part in group)


def _key(group: Group) -> tuple[AnyPart, ...]:
    """In one order, whatever order they were found in: the last digit of a figure may depend on it."""
    parts = sorted(group, key=_place) if len(group) > 1 else group
    return tuple(_times(part, group[part]) for part in parts if not isinstance(part, Part) or part.steps)


@lru_cache(maxsize=4096)
def _place(part: AnyPart) -> str:
    return repr(part)


def _times(part: AnyPart, count: int) -> AnyPart:
    if isinstance(part, Part):
        return replace(part, count=part.count * count, entries=part.entries * count)
    return replace(part, count=part.count * count)
