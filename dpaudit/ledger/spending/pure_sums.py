"""The default filter: exact sums per record, parallel over disjoint cohorts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from dpaudit.claims import InvalidValue, shorten_up
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.spending.budget import Charge, Spend
from dpaudit.ledger.spending.interval_sums import Amounts, Pieces

_NONE, _ONE = Fraction(0), Fraction(1)
_LONG = 2**4096
_ZERO: Amounts = (_NONE, _NONE, _NONE)


class PureSums:
    """Sums per record (Dwork & Roth 2014, Thm 3.16); disjoint cohorts in parallel (McSherry 2009, Thm 4).

    Three sums for each record: ε, δ, and how many of its charges have no known ε. Charges to everyone are kept once.
    """

    name = "pure-sums"

    def __init__(self) -> None:
        self._everyone = [_Total(), _Total(), _Total()]
        self._shared: Amounts | None = _ZERO  # what everyone has spent, once it was asked for
        self._pieces = Pieces(columns=3)
        self._ids: dict[str, Amounts] = {}
        self._last = _ZERO
        self._most_id = _ZERO  # spends never fall, so the running maximum is the maximum

    def worst(self) -> Spend:
        epsilon, delta, _ = self._with_everyone(self._most())
        return epsilon, delta

    def worst_records(self) -> Cohort:
        """A piece of equal spends with the largest Σε, the first of them; everyone when no record stands out."""
        best, worst = _NONE, Cohort.all()
        heaviest = self._pieces.heaviest()
        if heaviest is not None:
            best, worst = heaviest[1], Cohort(intervals=(heaviest[0],))
        for name, (epsilon, *_) in self._ids.items():
            if epsilon > best:
                best, worst = epsilon, Cohort(ids=frozenset((name,)))
        return worst

    def would_cost(self, charge: Charge) -> Spend:
        cohort, nobody = charge.cohort, charge.cohort.size == 0
        before = self._with_everyone(self._most() if cohort.everyone else self._most_in(cohort))
        if charge.epsilon is None or (before[2] and not nobody):
            raise InvalidValue("epsilon", None, "known for every charge of a record under a pure-sums budget")
        return (_NONE, _NONE) if nobody else (before[0] + charge.epsilon, _sum(before[1], charge.delta))

    def add(self, charge: Charge) -> None:
        cohort, amounts = charge.cohort, self._amounts(charge)
        if cohort.everyone:
            self._add_to_everyone(amounts, 1)
            return
        for start, stop in cohort.intervals:
            self._pieces.add(start, stop, amounts)
        for name in cohort.ids:
            before = self._ids.get(name)
            self._ids[name] = after = amounts if before is None else _plus(before, amounts)
            self._most_id = _join(self._most_id, after)

    def add_run(self, charge: Charge, everyone: int, starts: Sequence[int], stops: Sequence[int]) -> None:
        """Equal charges, as ``AddsRuns`` says."""
        amounts = self._amounts(charge)
        if everyone:
            self._add_to_everyone(amounts, everyone)
        self._pieces.add_run(starts, stops, amounts)

    def _amounts(self, charge: Charge) -> Amounts:
        """A million equal ones are kept as one."""
        epsilon, last = charge.epsilon, self._last
        amounts: Amounts = (_NONE, charge.delta, _ONE) if epsilon is None else (epsilon, charge.delta, _NONE)
        if amounts[0] is not last[0] or amounts[1] is not last[1] or amounts[2] is not last[2]:
            self._last = amounts
        return self._last

    def _add_to_everyone(self, amounts: Amounts, times: int) -> None:
        for total, amount in zip(self._everyone, amounts, strict=True):
            total.add(amount if times == 1 else times * amount)
        self._shared = None

    def _with_everyone(self, amounts: Amounts) -> Amounts:
        if self._shared is None:
            self._shared = tuple([total.fraction() for total in self._everyone])
        return _plus(self._shared, amounts)

    def _most(self) -> Amounts:
        return _join(self._pieces.worst(), self._most_id) if self._pieces.used else self._most_id

    def _most_in(self, cohort: Cohort) -> Amounts:
        most = self._pieces.most(cohort.intervals) if cohort.intervals else _ZERO
        for name in cohort.ids:
            most = _join(most, self._ids.get(name, _ZERO))
        return most


class _Total:
    """A sum in units of the terms' common denominator: adding Fractions would take most of the time of reading a ledger.

    Where that denominator becomes too long the sum is rounded up, as in ``shorten_up``.
    """

    __slots__ = ("_count", "_shown", "_unit")

    def __init__(self) -> None:
        self._count, self._unit = 0, 1
        self._shown: Fraction | None = _NONE  # as a fraction, once it was asked for

    def add(self, amount: Fraction) -> None:
        count, unit = amount.numerator, amount.denominator
        if not count:
            return
        self._shown = None
        if unit != self._unit:
            common = lcm(unit, self._unit)
            self._count, count, self._unit = self._count * (common // self._unit), count * (common // unit), common
        self._count += count
        if self._unit > _LONG:
            short = shorten_up(Fraction(self._count, self._unit))
            self._count, self._unit = short.numerator, short.denominator

    def fraction(self) -> Fraction:
        if self._shown is None:
            self._shown = Fraction(self._count, self._unit)
        return self._shown


def _plus(a: Amounts, b: Amounts) -> Amounts:
    return a if b is _ZERO else tuple([shorten_up(_sum(x, y)) for x, y in zip(a, b, strict=True)])


def _sum(x: Fraction, y: Fraction) -> Fraction:
    """Most sums of δ are of zeros."""
    return x + y if y.numerator else x


def _join(a: Amounts, b: Amounts) -> Amounts:
    """The larger of each."""
    if b is _ZERO:
        return a
    x, y, z = a
    u, v, w = b
    return (u if x is u or x <= u else x, v if y is v or y <= v else y, w if z is w or z <= w else z)


class ConvertedSums(ABC):
    """Sums of another measure than ε, which stands in its place, per record; converted where they are read."""

    def __init__(self) -> None:
        self._sums = PureSums()

    def would_cost(self, charge: Charge) -> Spend:
        return self._converted(self._sums.would_cost(self._read(charge)))

    def add(self, charge: Charge) -> None:
        self._sums.add(self._read(charge))

    def add_run(self, charge: Charge, everyone: int, starts: Sequence[int], stops: Sequence[int]) -> None:
        self._sums.add_run(self._read(charge), everyone, starts, stops)

    def worst(self) -> Spend:
        return self._converted(self._sums.worst())

    @abstractmethod
    def _read(self, charge: Charge) -> Charge:
        """The charge in that measure."""

    @abstractmethod
    def _converted(self, spend: Spend) -> Spend:
        """(ε, δ) of such sums."""
