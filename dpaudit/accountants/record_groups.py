"""Which kinds of releases touch the same record, and how many of each: what composes, record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import TypeVar

from dpaudit.ledger import Cohort

Kind = TypeVar("Kind", bound=Hashable)
_FEW = 300  # so many groups are compared with each other


def groups(touched: Iterable[tuple[Kind, Cohort]]) -> list[Counter[Kind]]:
    """For every record the kinds that touch it, counted; equal ones once, and none that is part of another.

    Records are swept in order: what touches a record changes only where a range starts or stops.
    """
    everyone: Counter[Kind] = Counter()
    changes: dict[int, Counter[Kind]] = {}
    named: dict[str, Counter[Kind]] = {}
    _sort_in(touched, everyone, changes, named)
    found = {frozenset((everyone + own).items()) for own in named.values()}
    found |= _swept(everyone, changes)
    found.add(frozenset(everyone.items()))
    return largest([Counter(dict(items)) for items in found])


def _sort_in(
    touched: Iterable[tuple[Kind, Cohort]],
    everyone: Counter[Kind],
    changes: dict[int, Counter[Kind]],
    named: dict[str, Counter[Kind]],
) -> None:
    for kind, cohort in touched:
        if cohort.everyone:
            everyone[kind] += 1
        for start, stop in cohort.intervals:
            changes.setdefault(start, Counter())[kind] += 1
            changes.setdefault(stop, Counter())[kind] -= 1
        for name in cohort.ids:
            named.setdefault(name, Counter())[kind] += 1


def records_with(touched: Iterable[tuple[Kind, Cohort]], group: Counter[Kind]) -> Cohort:
    """The records that exactly these kinds touch, so often: the first range of them, or the first name; else everyone."""
    everyone: Counter[Kind] = Counter()
    changes: dict[int, Counter[Kind]] = {}
    named: dict[str, Counter[Kind]] = {}
    _sort_in(touched, everyone, changes, named)
    current, places = Counter(everyone), sorted(changes)
    for place, after in pairwise([*places, *places[-1:]]):
        current.update(changes[place])
        if +current == group and after > place:
            return Cohort(intervals=((place, after),))
    names = [name for name, own in named.items() if everyone + own == group]
    return Cohort(ids=frozenset((min(names),))) if names else Cohort.all()


def _swept(everyone: Counter[Kind], changes: dict[int, Counter[Kind]]) -> set[frozenset[tuple[Kind, int]]]:
    """The groups of numbered records. Where ranges only stop, the group is part of the one before."""
    current = Counter(everyone)
    found: set[frozenset[tuple[Kind, int]]] = set()
    for place in sorted(changes):
        grows = False
        for kind, change in changes[place].items():
            if change:
                current[kind] += change
                grows = grows or change > 0
                if not current[kind]:
                    del current[kind]
        if grows:
            found.add(frozenset(current.items()))
    return found


def largest(found: list[Counter[Kind]]) -> list[Counter[Kind]]:
    """Those that are no part of another; all of them where they are many."""
    if len(found) > _FEW:
        return found
    return [one for i, one in enumerate(found) if not any(one <= other and i != j for j, other in enumerate(found))]
