"""The committed baseline: what every budget cost when it was last looked at, so that a change shows in a review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError, exact_epsilon, show
from dpaudit.claims.decimals import number
from dpaudit.claims.exit_codes import UNUSABLE
from dpaudit.gate.results import Judged
from dpaudit.ledger.records.strict_json import load_file

SCHEMA = "dpaudit.baseline/1"
Entries = Mapping[str, Mapping[str, Any]]
WATCHED = ("observer", "neighbours", "require")  # what else must not change unseen


def read_baseline(path: Path) -> Entries:
    """By budget. Raises DpauditError: a baseline that is configured and cannot be read is no baseline."""
    if not path.is_file():
        raise DpauditError(f"the baseline {path.name} is missing; write it with dpaudit check --write-baseline")
    document = load_file(path)
    budgets = document.get("budgets") if isinstance(document, dict) and document.get("schema") == SCHEMA else None
    if not isinstance(budgets, dict) or not all(_is_entry(entry) for entry in budgets.values()):
        raise DpauditError(f"{path.name} is not a baseline as dpaudit check --write-baseline writes it")
    return budgets


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("verdict"), str):
        return False
    try:
        return entry.get("epsilon") is None or (isinstance(entry["epsilon"], str) and exact_epsilon(entry["epsilon"]) >= 0)
    except DpauditError:
        return False


def baseline_of(budgets: Sequence[Judged]) -> dict[str, Any]:
    """The baseline for these results. Raises DpauditError where one of them was not checked."""
    missing = [budget.name for budget in budgets if budget.code == UNUSABLE]
    if missing:
        raise DpauditError(f"the baseline was not written, as these budgets were not checked: {', '.join(missing)}")
    return {"schema": SCHEMA, "budgets": {budget.name: _entry(budget) for budget in sorted(budgets, key=lambda b: b.name)}}


def _entry(judged: Judged) -> dict[str, Any]:
    watched = {"observer": judged.claim.observer, "require": judged.require, **(judged.stated or {})}
    figures = {"epsilon": None if judged.upper is None else show(judged.upper), "verdict": judged.verdict}
    return {"budget": judged.claim.to_dict(), **figures, **{key: watched[key] for key in WATCHED if key in watched}}


def change(judged: Judged, before: Mapping[str, Any] | None) -> str:
    """ "ε 0.8 → 0.95, budget 1": the figure, and whatever else differs from the baseline."""
    allowed = f"budget {show(judged.claim.epsilon)}"
    if before is None:
        return f"new, ε {_short(judged.upper)}, {allowed}"
    old, now = before.get("epsilon"), _entry(judged)
    if judged.code == UNUSABLE:
        return f"not known; was ε {_short(old)}"
    same = old == now["epsilon"]
    parts = [f"ε {_short(judged.upper)} as before" if same else f"ε {_short(old)} → {_short(judged.upper)}", allowed]
    if "budget" in before and before["budget"] != now["budget"]:
        parts[1] = f"budget {_pair(before['budget'])} → {_pair(now['budget'])}"
    parts += [
        f"{key} {before.get(key)} → {now.get(key)}"
        for key in ("verdict", *WATCHED)
        if key in before and before[key] != now.get(key)
    ]
    return ", ".join(parts)


def _pair(budget: Any) -> str:
    if not budget:
        return "none"
    figures = ", ".join(f"{name} {budget.get(key)}" for name, key in (("ε", "epsilon"), ("δ", "delta")))
    return figures + (", ideal arithmetic" if "arithmetic" in budget else "")


def _short(epsilon: Fraction | str | None) -> str:
    """As everywhere: exactly if that is short, else seven digits, rounded up."""
    if epsilon is None:
        return "none"
    return number(Fraction(epsilon))
