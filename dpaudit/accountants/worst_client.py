"""Which client pays most, and for which releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from dpaudit.accountants.interface import Group
from dpaudit.accountants.losses.parts import AnyPart
from dpaudit.accountants.readings.read_table import ReadTable
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


def worst_of_table(reads: ReadTable, costs: Sequence[Charge], parts: Sequence[AnyPart], group: Group) -> Client:
    """The client whom a bound is about: the one with the largest sum of ``costs`` (one for each sort) if the bound's ``group``
    is what touches it, else one whom that touches. ``parts``: what the bound composed of each sort.
    """
    alike = _heaviest(reads, costs)
    if group and reads.of_record(one_of(alike), parts) != group:
        alike = reads.touched(parts).records_with(group)
    record = one_of(alike)
    lost = [c.name for c in reads.unused if c.cohort.everyone or (record is not None and record in c.cohort)]
    return Client(record, alike, _Names(reads, reads.touching(record), lost))


def _heaviest(reads: ReadTable, costs: Sequence[Charge]) -> Cohort:
    """The records with the largest Σε, the first of them; everyone where no record stands out."""
    sums, table = PureSums(), reads.table
    for sort, _, starts, stops in table.runs(reads.sorts, len(costs)):
        sums.add_run(costs[sort], 0, starts, stops)
    for row in table.others().tolist():
        sums.add(costs[reads.sorts[row]].to(table.cohort(row)))
    for charge in reads.unused:
        sums.add(charge)
    for charge in _named_costs(reads, costs):
        sums.add(charge)
    return sums.worst_records()


def _named_costs(reads: ReadTable, costs: Sequence[Charge]) -> list[Charge]:
    """What is charged to single pseudonyms: the sum of the first who pays most, or each charge where others name them too."""
    table, rows = reads.table, reads.table.named()
    if not len(rows):
        return []
    first, sorts = table.columns()[1][rows], reads.sorts[rows]
    unit = lcm(*((cost.epsilon or Fraction(0)).denominator for cost in costs))
    units = [int((cost.epsilon or 0) * unit) for cost in costs]
    elsewhere = any(c.ids for c in table.cohorts) or any(c.cohort.ids for c in reads.unused)
    if elsewhere or max(units) * len(rows) >= 2**62:
        return [costs[sort].to(table.cohort(row)) for row, sort in zip(rows.tolist(), sorts.tolist(), strict=True)]
    _, places, which = np.unique(table.ids.digests()[first], return_index=True, return_inverse=True)
    totals = np.zeros(len(places), np.int64)
    np.add.at(totals, which, np.array(units, np.int64)[sorts])
    best = int(places[totals == totals.max()].min())
    return [Charge(Fraction(int(totals.max()), unit), cohort=table.cohort(int(rows[best])))]


class _Names(Sequence[str]):
    """The names of some rows, then others: read where they are asked for."""

    def __init__(self, reads: ReadTable, rows: Any, more: Sequence[str]) -> None:
        self._texts, self._rows, self._more = reads.table.names, rows, more

    def __len__(self) -> int:
        return len(self._rows) + len(self._more)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        place = range(len(self))[place]
        return self._texts[int(self._rows[place])] if place < len(self._rows) else self._more[place - len(self._rows)]


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
