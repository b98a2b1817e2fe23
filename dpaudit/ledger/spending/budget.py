"""Budgets, what a release charges, and the filter that keeps a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol, runtime_checkable

from dpaudit.claims import BudgetExceeded, Claim, InvalidValue, Number, exact, exact_delta, exact_epsilon, show
from dpaudit.ledger.records.cohort import Cohort

Spend = tuple[Fraction, Fraction]  # (Σε, Σδ) of one record


@dataclass(frozen=True)
class Budget:
    """What any one record may spend in all, exactly.

    ``filter``: what adds it up, fixed when the budget is set: "sum" (Σε and Σδ), "zcdp" (Σρ), "renyi" (moments at one ``order``,
    the best for Gaussian noise if left out) or "gaussian" (Σμ², Gaussian noise alone). They turn it into ε at the budget's δ, all
    of it; "zcdp(9e-7)" and "renyi(8,9e-7)" at a part, which leaves the rest to releases with a δ of their own, such as counts of
    unknown keys. None: as the ledger does.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    filter: str | None = field(default=None, compare=False)

    def __init__(
        self, epsilon: Number, delta: Number = "0", filter: str | None = None, order: Number | None = None
    ) -> None:  # fmt: skip
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, "budget epsilon"))
        object.__setattr__(self, "delta", exact_delta(delta, "budget delta"))
        if order is not None and filter != "renyi":
            raise InvalidValue("order", order, 'left out: it goes with filter="renyi"')
        named = filter if order is None else f"renyi({show(exact(order, 'order'))})"
        object.__setattr__(self, "filter", named)

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
        return spend[0] <= self.epsilon and (not spend[1].numerator or spend[1] <= self.delta)

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
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact_delta(self.delta))

    def to(self, cohort: Cohort) -> Charge:
        """The same charge to others, without checking it again: replaying a ledger makes a million of them."""
        made = object.__new__(Charge)
        made.__dict__.update(self.__dict__, cohort=cohort)
        return made

    def about(self, name: str, cohort: Cohort) -> Charge:
        """The same charge under another name, to others."""
        made = self.to(cohort)
        made.__dict__["name"] = name
        return made


class Filter(Protocol):
    """Keeps what every record has spent. ``name`` is written beside the budget: one budget, one filter.

    ``worst`` never falls, and after ``add(charge)`` it is at least what ``would_cost(charge)`` was before: a ledger
    whose worst record is within its budget was within it all the time.
    """

    name: str

    def would_cost(self, charge: Charge) -> Spend:
        """The largest (Σε, Σδ) of a record of the charge's cohort if it were added. Raises InvalidValue."""
        ...

    def add(self, charge: Charge) -> None: ...

    def worst(self) -> Spend:
        """The largest Σε and the largest Σδ of any record."""
        ...


@runtime_checkable
class AddsRuns(Protocol):
    """A filter that adds many equal charges at once."""

    def add_run(self, charge: Charge, everyone: int, starts: Sequence[int], stops: Sequence[int]) -> None:
        """So many to everyone, and one to each of these ranges, none of them empty; the charge's own cohort is not looked at."""
        ...


def refuse_overrun(spends: Filter, charge: Charge, budget: Budget) -> None:
    """Raise BudgetExceeded if a record would spend more than the budget; equal is allowed."""
    cost = spends.would_cost(charge)
    if not budget.allows(cost):
        raise BudgetExceeded(charge.name or "without a name", cost, (budget.epsilon, budget.delta))
