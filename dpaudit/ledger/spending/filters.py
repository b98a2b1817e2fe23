"""Filters by the name that stands beside a budget: fixed when the budget is set, and never another afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from dpaudit.claims import InvalidValue, exact, positive, show
from dpaudit.ledger.spending.budget import Budget, Filter
from dpaudit.ledger.spending.pure_sums import PureSums

FILTERS = ("pure-sums", "zcdp")  # that are tried by themselves, in this order
CHOSEN = ("sum", "renyi", "gaussian")  # that have to be asked for; "sum" is another word for pure-sums

_NAME = re.compile(r"(zcdp|gaussian|renyi)\(([^(),]{1,100})(?:,([^(),]{1,100}))?\)\Z")


def filter_named(name: str) -> Callable[[], Filter] | None:
    """What makes the filter that a budget entry names; None if it is no filter of dpaudit's own."""
    if name == PureSums.name:
        return PureSums
    matched = _NAME.match(name)
    if matched is None or (matched[1] == "renyi") != (matched[3] is not None):
        return None
    from dpaudit.ledger.spending.moment_sums import GaussianSums, MomentSums
    from dpaudit.ledger.spending.zcdp_sums import ZcdpSums

    try:
        delta = exact(matched[3] or matched[2], "delta")
        order = exact(matched[2], "order")
    except InvalidValue:
        return None
    if not 0 < delta < 1 or (matched[1] == "renyi" and not 1 < order <= 10**6):
        return None
    if matched[1] == "renyi":
        return partial(MomentSums, order, delta)
    return partial(ZcdpSums if matched[1] == "zcdp" else GaussianSums, delta)


def filter_for(kind: str, budget: Budget) -> str:
    """The name of a filter of this kind for a budget. "renyi(8)" names its order too; "renyi(8,9e-7)" and "zcdp(9e-7)" also the δ
    that it converts at, and leave the rest of the budget's to releases with a δ of their own. Raises InvalidValue."""
    family, _, inside = kind.partition("(")
    parts = [part.strip() for part in inside.rstrip(")").split(",")] if inside else []
    if family not in (*FILTERS, *CHOSEN) or len(parts) > {"renyi": 2, "zcdp": 1, "gaussian": 1}.get(family, 0):
        raise InvalidValue(
            "filter", kind, "one of " + ", ".join((*FILTERS, *CHOSEN)) + ", or renyi(8) with its order, renyi(8,9e-7) with its δ"
        )
    if family in ("sum", PureSums.name):
        return PureSums.name
    if not budget.delta:
        words = {"zcdp": "zCDP gives", "renyi": "a Rényi order gives", "gaussian": "Gaussian noise has"}[family]
        raise InvalidValue("budget", "δ = 0", f"a budget with δ > 0: {words} no ε at δ = 0")
    delta = budget.delta if len(parts) <= (family == "renyi") else positive(parts[-1], "delta of the filter")
    if delta > budget.delta:
        raise InvalidValue("filter", kind, f"one that converts at the budget's δ = {show(budget.delta)}, or at less")
    if family != "renyi":
        return f"{family}({show(delta)})"
    from dpaudit.ledger.spending.moment_sums import MomentSums, default_order

    order = positive(parts[0], "order") if parts else default_order(budget.epsilon, delta)
    return MomentSums(order, delta).name


def kind_of(name: str) -> str:
    """The filter without its δ: what a later budget of the same ledger must share. A Rényi filter keeps its order."""
    family, _, inside = name.partition("(")
    return f"renyi({inside.partition(',')[0]})" if family == "renyi" else family
