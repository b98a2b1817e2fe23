"""Which client pays most, and for which releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.claims import show
from dpaudit.claims.decimals import number, short
from dpaudit.ledger import Charge, Cohort, PureSums


@dataclass(frozen=True)
class Client:
    """A client who pays most: ``record`` is one of those ``alike``, None when everybody pays the same."""

    record: int | str | None
    alike: Cohort
    releases: Sequence[str]  # names of what touches it

    def to_dict(self, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
        """Its figures for a report; integers and pseudonyms stand in the ledger already."""
        return {
            "client": self.record, "alike": self.alike.to_json(), "epsilon": show(epsilon), "delta": show(delta),
            "releases": len(self.releases), "names": list(self.releases[:8]),
        }  # fmt: skip


def worst_client(charges: Sequence[Charge]) -> Client:
    """The client with the largest Σε of these charges, exactly; among equals the first.

    Charges to everybody are part of every client's sum. Without any other charge everybody is alike.
    """
    sums = PureSums()
    for charge in charges:
        sums.add(charge)
    return client_of(sums.worst_records(), charges)


def client_of(alike: Cohort, charges: Sequence[Charge]) -> Client:
    """The first of records that pay alike, and what touches it."""
    record = one_of(alike)
    touching = [c.name for c in charges if c.cohort.everyone or (record is not None and record in c.cohort)]
    return Client(record, alike, touching)


def one_of(cohort: Cohort) -> int | str | None:
    """The first record of a cohort; None for everyone, or if it is empty."""
    if cohort.everyone:
        return None
    return cohort.intervals[0][0] if cohort.intervals else min(cohort.ids, default=None)


def worst_text(worst: Mapping[str, Any]) -> str:
    """The client who pays most, by the integers or pseudonyms that stand in the ledger."""
    who, alike, count = worst.get("client"), worst.get("alike"), worst["releases"]
    same = ""
    if isinstance(alike, list) and alike and alike[0][1] - alike[0][0] > 1:
        same = f" ({alike[0][0]} to {alike[0][1] - 1} pay the same)"
    names = ", ".join(short(name, 40) for name in worst.get("names", ())[:3]) + (", …" if count > 3 else "")
    told = f"{count} release{'' if count == 1 else 's'}" + (f" ({names})" if names else "")
    return f"{'everybody alike' if who is None else f'client {who}{same}'}: {told}, ε ≤ {number(Fraction(worst['epsilon']))}"
