"""Charges as entries of a ledger: written, read, and compared with the release that uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.claims import exact_delta, exact_epsilon, show
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.printable_text import is_plain
from dpaudit.ledger.spending.budget import Charge

CARRIED = ("steps", "coordinates", "count", "sampling")


def facts_of(mechanism: str, sensitivity: str, parameters: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, str]:
    """The public facts of a release that a charge carries, for filters that need more than ε and δ."""
    known = {name: str(facts[name]) for name in CARRIED if facts[name] is not None}
    return {**parameters, "mechanism": mechanism, "sensitivity": sensitivity, **known}


def matches(charge: Charge, other: Charge) -> bool:
    """The same cost for the same records; names are compared where both have one, and so is every fact of the charge."""
    if charge is other:
        return True
    same_name = not charge.name or not other.name or charge.name == other.name
    return same_name and charge.cohort == other.cohort and pays_for(charge, other)


def pays_for(charge: Charge, other: Charge) -> bool:
    """The same ε and δ, and every fact of the charge; of several equal releases, fewer may have been made than were charged."""
    same_cost = (charge.epsilon, charge.delta) == (other.epsilon, other.delta)
    facts = dict(charge.facts)
    charged, made = facts.get("count", ""), other.facts.get("count", "")
    if charged.isdigit() and made.isdigit() and 0 < int(made) <= int(charged):
        facts["count"] = made
    return same_cost and facts.items() <= other.facts.items()


def charge_to_json(charge: Charge, key: str | None) -> dict[str, Any]:
    data = {
        "entry": "charge",
        "name": charge.name,
        "epsilon": None if charge.epsilon is None else show(charge.epsilon),
        "delta": show(charge.delta),
        "cohort": charge.cohort.to_json(),
        "facts": dict(charge.facts),
    }
    return data if key is None else {**data, "key": key}


def charge_from_json(data: dict[str, Any]) -> Charge:
    """Read what ``charge_to_json`` writes. Raises ValueError, TypeError or LookupError for anything else."""
    epsilon, cohort = data["epsilon"], Cohort.from_json(data["cohort"])
    texts = [data["name"], data.get("key", ""), data["delta"], *data["facts"], *data["facts"].values(), *cohort.ids]
    if not all(map(is_plain, texts)) or not (epsilon is None or type(epsilon) is str):
        raise ValueError
    pure = None if epsilon is None else exact_epsilon(epsilon)
    charge = Charge(pure, exact_delta(data["delta"]), cohort, data["name"], data["facts"])
    if charge_to_json(charge, data.get("key")) != data:
        raise ValueError
    return charge
