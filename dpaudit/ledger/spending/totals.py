"""What the charges of a ledger add up to, and whether they kept its budgets."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.claims import InvalidValue
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.entry_frames import Who, as_cohort
from dpaudit.ledger.spending.budget import Budget, Charge, Filter
from dpaudit.ledger.spending.filters import filter_named
from dpaudit.ledger.spending.pure_sums import PureSums


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
        self._run: Charge | None = None  # lenient: not added yet, one charge to a run of neighbouring ranges
        self._run_start = self._run_stop = 0

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
        if type(who) is not tuple:
            self._add(charge.to(as_cohort(who)))
        elif self._run is not None and who[0] == self._run_stop and _alike(self._run, charge):
            self._run_stop = who[1]
        else:
            self.settle()
            self._run, (self._run_start, self._run_stop) = charge, who

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

    def settle(self) -> None:
        """Add what was gathered."""
        run, self._run = self._run, None
        if run is not None:
            self._add(run.to(Cohort.one_range((self._run_start, self._run_stop))))

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


def _alike(run: Charge, charge: Charge) -> bool:
    """Equal charges to neighbouring ranges, as batches of rounds write them, are added as one charge to the whole."""
    return run is charge or (run.epsilon, run.delta, run.facts) == (charge.epsilon, charge.delta, charge.facts)
