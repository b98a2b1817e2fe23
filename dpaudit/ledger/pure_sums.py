"""The default filter: exact sums per record, parallel over disjoint cohorts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from math import gcd

from dpaudit.claims import InvalidValue
from dpaudit.ledger.budget import Charge, Spend
from dpaudit.ledger.cohort import Cohort

# (Σε, Σδ) of one record as numerator, denominator, numerator, denominator; not always in lowest terms. A ledger of a
# million entries is added up on opening, and sums of Fractions would take most of that time.
Sum = tuple[int, int, int, int]

_ZERO: Sum = (0, 1, 0, 1)
_FEW = 32  # up to here, breakpoints are inserted one by one; beyond, merged in one pass


class PureSums:
    """Sums per record (Dwork & Roth 2014, Thm 3.16); disjoint cohorts in parallel (McSherry 2009, Thm 4).

    Spends are piecewise constant over the integers: ``_spends[i]`` on [``_starts[i]``, ``_starts[i+1]``),
    zero before the first start. Charges to everyone are kept once, as a base.
    """

    name = "pure-sums"

    def __init__(self) -> None:
        self._base = _ZERO
        self._starts: list[int] = []
        self._spends: list[Sum] = []
        self._ids: dict[str, Sum] = {}
        self._most = _ZERO  # spends never fall, so the running maximum is the maximum
        self._unbounded: Cohort | None = None  # records with a charge of unknown ε

    def worst(self) -> Spend:
        return _spend(_plus(self._base, self._most))

    def would_cost(self, charge: Charge) -> Spend:
        if charge.epsilon is None or not (self._unbounded is None or self._unbounded.disjoint(charge.cohort)):
            raise InvalidValue("epsilon", None, "known for every charge of a record under a pure-sums budget")
        if charge.cohort.size == 0:
            return _spend(_ZERO)
        before = self._most if charge.cohort.everyone else self._most_in(charge.cohort)
        return _spend(_plus(_plus(self._base, before), _cost(charge)))

    def add(self, charge: Charge) -> None:
        cohort, cost = charge.cohort, _cost(charge)
        if charge.epsilon is None:
            self._unbounded = cohort if self._unbounded is None else self._unbounded.union(cohort)
        if cohort.everyone:
            self._base = _plus(self._base, cost)
            return
        many = len(cohort.intervals) > _FEW
        if many:
            self._cut_all({end for interval in cohort.intervals for end in interval})
        for start, stop in cohort.intervals:
            self._raise(start, stop, cost, heal=not many)
        for name in cohort.ids:
            self._ids[name] = _plus(self._ids.get(name, _ZERO), cost)
            self._most = _join(self._most, self._ids[name])

    def _raise(self, start: int, stop: int, cost: Sum, heal: bool) -> None:
        """Add a cost on [start, stop). Breakpoints where nothing changes are removed: equal neighbours stay one piece."""
        starts, spends = self._starts, self._spends
        first = bisect_left(starts, start)
        below = spends[first - 1] if first else _ZERO
        if first == len(starts) or starts[first] != start:
            starts.insert(first, start)
            spends.insert(first, below)
        last = bisect_left(starts, stop, first + 1)
        if last == len(starts) or starts[last] != stop:
            starts.insert(last, stop)
            spends.insert(last, spends[last - 1])
        for i in range(first, last):
            spends[i] = total = _plus(spends[i], cost)
            self._most = _join(self._most, total)
        if heal and _same(spends[last], spends[last - 1]):
            del starts[last], spends[last]
        if heal and _same(spends[first], below):
            del starts[first], spends[first]

    def _most_in(self, cohort: Cohort) -> Sum:
        most = _ZERO
        for start, stop in cohort.intervals:
            first = max(0, bisect_right(self._starts, start) - 1)
            for i in range(first, bisect_left(self._starts, stop)):
                most = _join(most, self._spends[i])
        for name in cohort.ids:
            most = _join(most, self._ids.get(name, _ZERO))
        return most

    def _cut_all(self, points: set[int]) -> None:
        starts = sorted({*self._starts, *points})
        self._spends = [self._at(start) for start in starts]
        self._starts = starts

    def _at(self, record: int) -> Sum:
        i = bisect_right(self._starts, record)
        return self._spends[i - 1] if i else _ZERO


def _plus(a: Sum, b: Sum) -> Sum:
    epsilon, unit, delta, part = a
    if unit == b[1]:
        epsilon += b[0]
    else:
        epsilon, unit = _add(epsilon, unit, b[0], b[1])
    if not b[2]:
        return epsilon, unit, delta, part
    return epsilon, unit, *_add(delta, part, b[2], b[3])


def _add(p: int, q: int, r: int, s: int) -> tuple[int, int]:
    """p/q + r/s over the least common denominator, so that repeated sums stay as short as their terms."""
    if q == s:
        return p + r, q
    common = gcd(q, s)
    return p * (s // common) + r * (q // common), q // common * s


def _join(a: Sum, b: Sum) -> Sum:
    """The larger Σε and the larger Σδ."""
    if a == b:
        return a
    more = a[:2] if a[0] * b[1] >= b[0] * a[1] else b[:2]
    return (*more, *(a[2:] if a[2] * b[3] >= b[2] * a[3] else b[2:]))


def _same(a: Sum, b: Sum) -> bool:
    return a == b or (a[0] * b[1] == b[0] * a[1] and a[2] * b[3] == b[2] * a[3])


def _cost(charge: Charge) -> Sum:
    pure = (0, 1) if charge.epsilon is None else charge.epsilon.as_integer_ratio()
    return (*pure, *charge.delta.as_integer_ratio())


def _spend(total: Sum) -> Spend:
    return Fraction(total[0], total[1]), Fraction(total[2], total[3])
