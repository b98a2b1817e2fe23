"""Budgets and the filter that keeps them: exact sums per record, parallel over disjoint cohorts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from dpaudit.claims import BudgetExceeded, Claim, InvalidValue, Number, exact_delta, exact_epsilon, show
from dpaudit.ledger.cohort import Cohort

Spend = tuple[Fraction, Fraction]  # (Σε, Σδ) of one record

_ZERO: Spend = (Fraction(0), Fraction(0))
_FEW = 32  # up to here, breakpoints are inserted one by one; beyond, merged in one pass


@dataclass(frozen=True)
class Budget:
    """What any one record may spend in all, exactly."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __init__(self, epsilon: Number, delta: Number = "0") -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, "budget epsilon"))
        object.__setattr__(self, "delta", exact_delta(delta, "budget delta"))

    @classmethod
    def of(cls, budget: Limit) -> Budget:
        """A budget from a claim, from ε alone, or from (ε, δ). Raises InvalidValue."""
        if isinstance(budget, Budget):
            return budget
        if isinstance(budget, Claim):
            return cls(budget.epsilon, budget.delta)
        if isinstance(budget, tuple):
            if len(budget) != 2:
                raise InvalidValue("budget", budget, "ε or (ε, δ)")
            return cls(*budget)
        return cls(budget)

    def allows(self, spend: Spend) -> bool:
        return spend[0] <= self.epsilon and spend[1] <= self.delta

    def to_json(self) -> dict[str, str]:
        return {"delta": show(self.delta), "epsilon": show(self.epsilon)}


Limit = Budget | Claim | Number | tuple[Number, Number]


@dataclass(frozen=True)
class Charge:
    """What a release will cost every record of its cohort. ``epsilon`` None: no pure cost is known.

    ``facts``: exact public strings (mechanism, parameters, sensitivity), for filters that need more.
    """

    epsilon: Fraction | None
    delta: Fraction = Fraction(0)
    cohort: Cohort = field(default_factory=Cohort.all)
    name: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Replaying a ledger builds a million of these: convert only what needs it.
        if self.epsilon is not None and (type(self.epsilon) is not Fraction or self.epsilon.numerator < 0):
            object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        if type(self.delta) is not Fraction or self.delta.numerator != 0:
            object.__setattr__(self, "delta", exact_delta(self.delta))


class Filter(Protocol):
    """Keeps what every record has spent. ``name`` is written beside the budget: one budget, one filter."""

    name: str

    def would_cost(self, charge: Charge) -> Spend:
        """The largest (Σε, Σδ) of a record of the charge's cohort if it were added. Raises InvalidValue."""
        ...

    def add(self, charge: Charge) -> None: ...

    def worst(self) -> Spend:
        """The largest Σε and the largest Σδ of any record."""
        ...


def refuse_overrun(spends: Filter, charge: Charge, budget: Budget) -> None:
    """Raise BudgetExceeded if a record would spend more than the budget; equal is allowed."""
    cost = spends.would_cost(charge)
    if not budget.allows(cost):
        raise BudgetExceeded(charge.name or "without a name", cost, (budget.epsilon, budget.delta))


class PureSums:
    """Sums per record (Dwork & Roth 2014, Thm 3.16); disjoint cohorts in parallel (McSherry 2009, Thm 4).

    Spends are piecewise constant over the integers: ``_spends[i]`` on [``_starts[i]``, ``_starts[i+1]``),
    zero before the first start. Charges to everyone are kept once, as a base.
    """

    name = "pure-sums"

    def __init__(self) -> None:
        self._base = _ZERO
        self._starts: list[int] = []
        self._spends: list[Spend] = []
        self._ids: dict[str, Spend] = {}
        self._most = _ZERO  # spends never fall, so the running maximum is the maximum
        self._unbounded = Cohort()

    def worst(self) -> Spend:
        return _plus(self._base, self._most)

    def would_cost(self, charge: Charge) -> Spend:
        if charge.epsilon is None or not self._unbounded.disjoint(charge.cohort):
            raise InvalidValue("epsilon", None, "known for every charge of a record under a pure-sums budget")
        if charge.cohort.size == 0:
            return _ZERO
        before = self._most if charge.cohort.everyone else self._most_in(charge.cohort)
        return _plus(_plus(self._base, before), (charge.epsilon, charge.delta))

    def add(self, charge: Charge) -> None:
        cohort, cost = charge.cohort, _cost(charge)
        if charge.epsilon is None:
            self._unbounded = self._unbounded.union(cohort)
        if cohort.everyone:
            self._base = _plus(self._base, cost)
            return
        self._cut([end for interval in cohort.intervals for end in interval])
        for start, stop in cohort.intervals:
            first, last = bisect_left(self._starts, start), bisect_left(self._starts, stop)
            for i in range(first, last):
                self._spends[i] = _plus(self._spends[i], cost)
                self._most = _join(self._most, self._spends[i])
        if len(cohort.intervals) <= _FEW:
            for interval in cohort.intervals:
                for end in interval:
                    self._heal(end)
        for name in cohort.ids:
            self._ids[name] = _plus(self._ids.get(name, _ZERO), cost)
            self._most = _join(self._most, self._ids[name])

    def _most_in(self, cohort: Cohort) -> Spend:
        most = _ZERO
        for start, stop in cohort.intervals:
            first = max(0, bisect_right(self._starts, start) - 1)
            for i in range(first, bisect_left(self._starts, stop)):
                most = _join(most, self._spends[i])
        for name in cohort.ids:
            most = _join(most, self._ids.get(name, _ZERO))
        return most

    def _cut(self, points: list[int]) -> None:
        """Make every point a breakpoint, leaving all spends as they are."""
        if len(points) > 2 * _FEW:
            starts = sorted({*self._starts, *points})
            self._spends = [self._at(start) for start in starts]
            self._starts = starts
            return
        for point in points:
            i = bisect_left(self._starts, point)
            if i == len(self._starts) or self._starts[i] != point:
                self._spends.insert(i, self._spends[i - 1] if i else _ZERO)
                self._starts.insert(i, point)

    def _heal(self, point: int) -> None:
        """Remove a breakpoint where nothing changes: many adjacent equal charges stay one piece."""
        i = bisect_left(self._starts, point)
        if i < len(self._starts) and self._starts[i] == point:
            before = self._spends[i - 1] if i else _ZERO
            if self._spends[i] == before:
                del self._starts[i], self._spends[i]

    def _at(self, record: int) -> Spend:
        i = bisect_right(self._starts, record)
        return self._spends[i - 1] if i else _ZERO


def _plus(a: Spend, b: Spend) -> Spend:
    if a is _ZERO:
        return b
    return a[0] + b[0], a[1] + b[1] if b[1].numerator else a[1]


def _join(a: Spend, b: Spend) -> Spend:
    return a[0] if a[0] is b[0] else max(a[0], b[0]), a[1] if a[1] is b[1] else max(a[1], b[1])


def _cost(charge: Charge) -> Spend:
    """(ε, δ) of a charge, with the one zero that the sums above recognise without arithmetic."""
    return charge.epsilon or _ZERO[0], charge.delta if charge.delta.numerator else _ZERO[1]
