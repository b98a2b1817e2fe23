"""How spending is spread over the clients that a ledger names: so many of them pay so much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.least_epsilon import Group, least
from dpaudit.accountants.losses.parts import AnyPart
from dpaudit.claims import float_up
from dpaudit.ledger import Charge, Cohort

SHARES = 8  # ranges of ε
GROUPS, FIXED_GROUPS = 300, 20  # kinds of clients whose releases are composed; each takes long where parameters are fixed
RELEASES = 2000  # that are told apart for each kind of client
_UNIT = 2**64  # costs are summed as multiples of 1/_UNIT, rounded up, so that equal sums are equal


@dataclass(frozen=True)
class Share:
    """So many clients who pay from ``low`` to ``high``; None: everybody else, whose number is not public."""

    low: float
    high: float
    clients: int | None


def summed_shares(charges: Iterable[Charge]) -> list[Share]:
    """By the plain sum of each client's ε, the cheapest first. Empty where every charge is to everybody."""
    everyone, changes, named = 0, Counter[int](), Counter[str]()
    for charge in charges:
        cost, cohort = _units(charge.epsilon or Fraction(0)), charge.cohort
        everyone += cost if cohort.everyone else 0
        for start, stop in cohort.intervals:
            changes[start] += cost
            changes[stop] -= cost
        for name in cohort.ids:
            named[name] += cost
    counts = Counter(everyone + cost for cost in named.values())
    running, before = 0, 0
    for place in sorted(changes):
        if running:
            counts[everyone + running] += place - before
        running, before = running + changes[place], place
    return _shares(everyone, counts)


def composed_shares(touched: Sequence[tuple[AnyPart, Cohort]], delta: Fraction, *, fixed: bool) -> list[Share] | None:
    """The same by the least ε that is proven at δ for each client's own releases. None where that would take long."""
    if len(touched) > RELEASES:
        return None
    everyone, kinds = _kinds(touched)
    if len(kinds) > (FIXED_GROUPS if fixed else GROUPS):
        return None
    costs = {kind: _units(least([Counter(dict(kind))], delta, fixed=fixed).epsilon) for kind in {everyone, *kinds}}
    counts = Counter[int]()
    for kind, clients in kinds.items():
        counts[costs[kind]] += clients
    return _shares(costs[everyone], counts)


Kind = frozenset[tuple[AnyPart, int]]


def _kinds(touched: Sequence[tuple[AnyPart, Cohort]]) -> tuple[Kind, Counter[Kind]]:
    """What touches everybody, and how many of the named clients are touched by what."""
    everyone: Group = Counter(part for part, cohort in touched if cohort.everyone)
    changes: dict[int, list[tuple[AnyPart, int]]] = {}
    named: dict[str, Group] = {}
    for part, cohort in touched:
        for start, stop in cohort.intervals:
            changes.setdefault(start, []).append((part, 1))
            changes.setdefault(stop, []).append((part, -1))
        for name in cohort.ids:
            named.setdefault(name, Counter())[part] += 1
    kinds = Counter(frozenset((everyone + own).items()) for own in named.values())
    own, before = Group(), 0
    for place in sorted(changes):
        if own:
            kinds[frozenset((everyone + own).items())] += place - before
        for part, change in changes[place]:
            own[part] += change
        own, before = +own, place
    return frozenset(everyone.items()), kinds


def _shares(everyone: int, counts: Counter[int]) -> list[Share]:
    if not counts:
        return []
    found = [Share(_epsilon(low), _epsilon(high), count) for low, high, count in _joined(counts)]
    return [Share(_epsilon(everyone), _epsilon(everyone), None), *found] if everyone else found


def _joined(counts: Counter[int]) -> list[tuple[int, int, int]]:
    """(least, largest, clients) of each cost, or of ranges of equal width where there are many; empty ones too."""
    costs = sorted(counts)
    if len(costs) <= SHARES:
        return [(each, each, counts[each]) for each in costs]
    width = -(-(costs[-1] - costs[0] + 1) // SHARES)
    lows = [costs[0] + place * width for place in range(SHARES)]
    inside = Counter[int]()
    for each in costs:
        inside[(each - costs[0]) // width] += counts[each]
    return [(low, min(low + width, costs[-1]), inside[place]) for place, low in enumerate(lows)]


def _units(epsilon: Fraction) -> int:
    return -(-epsilon.numerator * _UNIT // epsilon.denominator)


def _epsilon(units: int) -> float:
    return float_up(Fraction(units, _UNIT))
