"""Filters by the name that stands beside a budget."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from dpaudit.claims import InvalidValue, exact, show
from dpaudit.ledger.spending.budget import Budget, Filter
from dpaudit.ledger.spending.pure_sums import PureSums

FILTERS = ("pure-sums", "zcdp")

_ZCDP = re.compile(r"zcdp\(([^()]{1,100})\)\Z")


def filter_named(name: str) -> Callable[[], Filter] | None:
    """What makes the filter that a budget entry names; None if it is no filter of dpaudit's own."""
    if name == PureSums.name:
        return PureSums
    matched = _ZCDP.match(name)
    if matched is None:
        return None
    from dpaudit.ledger.spending.zcdp_sums import ZcdpSums

    try:
        delta = exact(matched[1], "delta")
    except InvalidValue:
        return None
    return partial(ZcdpSums, delta) if 0 < delta < 1 else None


def filter_for(kind: str, budget: Budget) -> str:
    """The name of a filter of this kind for a budget. Raises InvalidValue."""
    if kind not in FILTERS:
        raise InvalidValue("filter", kind, "one of " + ", ".join(FILTERS))
    if kind == PureSums.name:
        return kind
    if not budget.delta:
        raise InvalidValue("budget", "δ = 0", "a budget with δ > 0: zCDP gives no ε at δ = 0")
    return f"zcdp({show(budget.delta)})"
