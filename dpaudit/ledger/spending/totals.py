"""What the charges of a ledger add up to, and whether they kept its budgets."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from dpaudit.claims import InvalidValue
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.entry_frames import Who, as_cohort
from dpaudit.ledger.spending.budget import AddsRuns, Budget, Charge, Filter
from dpaudit.ledger.spending.filters import filter_named
from dpaudit.ledger.spending.pure_sums import PureSums

_MOST_WAITING = 2**16  # charges; more are no faster to add at once


class SpendingTotals:
    """Charges and budgets in their order. Raises ValueError for a charge that its budget did not allow.

    ``lenient``: the filter is not asked about each charge, but once for each budget (``within_budget``). Spends never fall,
    so charges kept a budget if and only if the records that they touch are within it when it ends.
    """

    def __init__(self, spends: Filter, lenient: bool = False) -> None:
        self.spends, self.lenient = spends, lenient
        self.budget: Budget | None = None
        self.filter_name = spends.name
        self._all_known = True  # has every charge a known ε?
        self._earlier_held = True  # lenient: did every earlier budget hold?
        self._touched: list[Cohort] | None = None  # lenient: whom charges since the budget touch, where that is needed
        self._runs: dict[int, _Run] = {}  # lenient: equal charges that are not added yet, by the id of the charge
        self._waiting = 0

    def limit(self, budget: Budget, filter_name: str) -> None:
        """A budget, which is at most the one before."""
        if self.budget is not None and not self.budget.allows((budget.epsilon, budget.delta)):
            raise ValueError
        if self.lenient:
            self._earlier_held = self.within_budget()
            # What was spent before may exceed a new budget; then those who are charged from here on are looked at alone.
            self._touched = None if self._known() and budget.allows(self.spends.worst()) else []
        self.budget, self.filter_name = budget, filter_name

    def spend(self, charge: Charge, who: Who, allowed: bool = False) -> None:
        """Charge ``who``, in the place of the charge's own cohort. ``allowed``: the filter was asked just now."""
        if not self.lenient:
            self._spend_now(charge.to(as_cohort(who)), allowed)
            return
        if charge.epsilon is None:
            self._all_known = False
        run = self._runs.get(id(charge))
        if run is None:
            run = self._runs[id(charge)] = _Run(charge)
        if type(who) is tuple:
            stops = run.stops
            if stops and stops[-1] == who[0]:  # as batches of rounds are written
                stops[-1] = who[1]
                return
            run.starts.append(who[0])
            stops.append(who[1])
        elif type(who) is Cohort and who.everyone:
            run.everyone += 1
        else:
            self._add(charge.to(as_cohort(who)))
        self._waiting += 1
        if self._waiting >= _MOST_WAITING:
            self.settle()

    def within_budget(self) -> bool:
        """Did no charge so far exceed the budget of its time? A budget of another filter is not looked at."""
        self.settle()
        if not self._earlier_held or self.budget is None or self.filter_name != self.spends.name:
            return self._earlier_held
        if self._touched is None:
            return self._known() and self.budget.allows(self.spends.worst())
        try:
            return self.budget.allows(self.spends.would_cost(Charge(Fraction(0), cohort=Cohort.joined(self._touched))))
        except InvalidValue:
            return False

    @property
    def resumable(self) -> bool:
        """Is it known by sums and the last budget alone whether budgets were kept? Not where one was set below what was spent."""
        return self._earlier_held and self._touched is None

    def resume(self, budget: Budget | None, filter_name: str, all_known: bool) -> None:
        """Go on with this budget, after charges that were added to the filter and kept theirs."""
        self.budget, self.filter_name, self._all_known = budget, filter_name, all_known

    def settle(self) -> None:
        """Add what was gathered."""
        runs, self._runs, self._waiting = self._runs, {}, 0
        for run in runs.values():
            if self._touched is not None:
                self._touched.extend(_cohorts(run.everyone, run.starts, run.stops))
            self.add_run(run.charge, run.everyone, run.starts, run.stops)

    def add_run(self, charge: Charge, everyone: int, starts: Sequence[int], stops: Sequence[int]) -> None:
        """Equal charges at once: so many to everyone, and one to each of these ranges."""
        if isinstance(self.spends, AddsRuns):
            self.spends.add_run(charge, everyone, starts, stops)
            return
        for cohort in _cohorts(everyone, starts, stops):
            self.spends.add(charge.to(cohort))

    def named_filter(self) -> Callable[[], Filter] | None:
        """What makes the filter that the budget names, where it is another than this one."""
        return None if self.filter_name == self.spends.name else filter_named(self.filter_name)

    def _spend_now(self, charge: Charge, allowed: bool) -> None:
        if not allowed and self.budget is not None and self.filter_name == self.spends.name:
            try:
                cost = self.spends.would_cost(charge)
            except InvalidValue:
                raise ValueError from None
            if not self.budget.allows(cost):
                raise ValueError
        self.spends.add(charge)

    def _known(self) -> bool:
        return self._all_known or self.spends.name != PureSums.name

    def _add(self, charge: Charge) -> None:
        self.spends.add(charge)
        if self._touched is not None:
            self._touched.append(charge.cohort)


class _Run:
    """Equal charges: so many to everyone, and one to each of these ranges."""

    __slots__ = ("charge", "everyone", "starts", "stops")

    def __init__(self, charge: Charge) -> None:
        self.charge, self.everyone = charge, 0
        self.starts, self.stops = array("q"), array("q")


def _cohorts(everyone: int, starts: Sequence[int], stops: Sequence[int]) -> Iterator[Cohort]:
    yield from map(Cohort.one_range, zip(starts, stops, strict=True))
    yield from (Cohort.all() for _ in range(everyone))
