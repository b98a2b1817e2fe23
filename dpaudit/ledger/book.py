"""What the entries of a ledger add up to: its kind, budget, spends, open charges and Merkle tree.

A ledger is a sequence of canonical JSON texts, the leaves of the tree:

    {"entry": "ledger", "format": 1, "kind": …, "id": …}                   the first, and only the first
    {"entry": "budget", "epsilon": …, "delta": …, "filter": …}             set once, then only tightened
    {"entry": "charge", "name", "epsilon", "delta", "cohort", "facts"[, "key"]}    durable before any noise
    {"entry": "release", "release": {…}, "charge": its place}              closes that charge
    {"entry": "release", "release": {…}[, "key"]}                          charge and release in one
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

from dpaudit.claims import InvalidValue, exact_delta, exact_epsilon, show
from dpaudit.ledger.budget import Budget, Charge, Filter
from dpaudit.ledger.cohort import LARGEST, Cohort
from dpaudit.ledger.errors import InvalidRecord, TamperedLedger
from dpaudit.ledger.merkle import Tree

FORMAT = 1
LEDGER_KINDS = ("deployment", "simulated")

_NO_FACTS: dict[str, str] = {}

_epsilon = lru_cache(maxsize=4096)(exact_epsilon)
_delta = lru_cache(maxsize=4096)(exact_delta)
_decode = json.JSONDecoder().raw_decode


class Entries(Protocol):
    """Where entries are kept. ``sealed`` is the (size, root) committed together with the last of them."""

    where: str
    readonly: bool

    def snapshot(self) -> AbstractContextManager[None]: ...

    def transaction(self) -> AbstractContextManager[None]: ...

    def read(self, start: int) -> Iterator[tuple[int, bytes]]: ...

    def write(self, place: int, entry: bytes, root: bytes) -> None: ...

    def sealed(self) -> tuple[int, bytes]: ...

    def close(self) -> None: ...


class Book:
    """The state after some entries. ``apply`` raises TamperedLedger for one that no ledger writes.

    ``lenient``: charges are added up without asking whether the budget allowed each of them; see ``replay``.
    """

    def __init__(self, where: str, spends: Filter, lenient: bool = False) -> None:
        self.where, self.spends, self.lenient = where, spends, lenient
        self.tree = Tree()
        self.kind = self.identity = ""
        self.budget: Budget | None = None
        self.filter_name = spends.name
        self.open_charges: dict[int, dict[str, Any]] = {}
        self.stored: dict[str, int] = {}  # idempotency key → place of its release
        self.releases = 0
        self.all_pure = True  # every charge has a known ε
        self._run: Charge | None = None  # read and not yet added: one charge to a run of neighbouring ranges
        self._run_stop = 0
        self._run_form: tuple[Any, ...] = ()

    def apply(self, entry: bytes) -> None:
        place = self.tree.size
        try:
            text = entry.decode("ascii")
            data, end = _decode(text)
            kind = data["entry"]
            if (kind == "ledger") != (place == 0) or end != len(text):
                raise ValueError
            _READERS[kind](self, data, place)
        except (AttributeError, LookupError, TypeError, ValueError, InvalidRecord, RecursionError):
            raise TamperedLedger(self.where, f"entry {place} is not what a ledger writes there") from None
        self.tree.append(entry)

    def within_budget(self) -> bool:
        """Did no charge of a lenient book exceed the budget? Budgets are only tightened, and spends never fall."""
        self.settle()
        if self.budget is None or self.filter_name != self.spends.name:
            return True
        return self.all_pure and self.budget.allows(self.spends.worst())

    def unused(self) -> list[Charge]:
        return [_read_charge(data) for data in self.open_charges.values()]

    def _open(self, data: dict[str, Any], place: int) -> None:
        if data["format"] != FORMAT or data["kind"] not in LEDGER_KINDS or type(data["id"]) is not str:
            raise ValueError
        self.kind, self.identity = data["kind"], data["id"]

    def _limit(self, data: dict[str, Any], place: int) -> None:
        budget = Budget(data["epsilon"], data["delta"])
        if self.budget is not None and not self.budget.allows((budget.epsilon, budget.delta)):
            raise ValueError
        self.budget, self.filter_name = budget, str(data["filter"])

    def _charge(self, data: dict[str, Any], place: int) -> None:
        self._spend(data)
        self.open_charges[place] = data

    def _release(self, data: dict[str, Any], place: int) -> None:
        record, key = data["release"], data.get("key")
        if "charge" in data:
            charged = self.open_charges.pop(data["charge"])
            key = charged.get("key")
            if not _as_charged(charged, record):
                raise ValueError
        else:
            self._spend(record)
        if key is not None:
            if key in self.stored:
                raise ValueError
            self.stored[key] = place
        self.releases += 1

    def _spend(self, data: dict[str, Any]) -> None:
        if self.lenient:
            self._gather(data)
            return
        charge = _read_charge(data)
        # A budget of another filter is not re-enacted.
        if self.budget is not None and self.filter_name == self.spends.name:
            try:
                cost = self.spends.would_cost(charge)
            except InvalidValue:
                raise ValueError from None
            if not self.budget.allows(cost):
                raise ValueError
        self.spends.add(charge)

    def _gather(self, data: dict[str, Any]) -> None:
        """Equal charges to neighbouring ranges, as batches of rounds write them, are added as one charge to the whole."""
        cohort, form = data["cohort"], (data["epsilon"], data.get("delta"), data.get("facts"))
        if self._run is not None and form == self._run_form and type(cohort) is list and len(cohort) == 1:
            start, stop = cohort[0]
            whole = type(start) is int and type(stop) is int and type(data["name"]) is str
            if whole and start == self._run_stop < stop <= LARGEST:
                self._run_stop = stop
                return
        if self._run is not None:
            self.settle()
        charge = _read_charge(data)
        if charge.epsilon is None:
            self.all_pure = False
        ranges = charge.cohort.intervals
        if len(ranges) != 1 or charge.cohort.ids:
            self.spends.add(charge)
        else:
            self._run, self._run_stop, self._run_form = charge, ranges[0][1], form

    def settle(self) -> None:
        """Add what was gathered."""
        if self._run is not None:
            start = self._run.cohort.intervals[0][0]
            self.spends.add(replace(self._run, cohort=Cohort.of(range(start, self._run_stop))))
        self._run = None


_READERS: dict[str, Callable[[Book, dict[str, Any], int], None]] = {
    "ledger": Book._open,
    "budget": Book._limit,
    "charge": Book._charge,
    "release": Book._release,
}


def replay(entries: Entries, spends: Callable[[], Filter], watch: int | None = None) -> tuple[Book, bytes | None]:
    """The book of all entries, and the root at size ``watch``. Raises TamperedLedger.

    Asking the filter about every charge takes longer than reading them, so it is asked once, at the end; only when the
    worst record is over the budget (which may have been set later than it was spent) are the charges looked at one by one.
    """
    book = Book(entries.where, spends(), lenient=True)
    seen = catch_up(book, entries, watch)
    if not book.within_budget():
        book = Book(entries.where, spends())
        seen = catch_up(book, entries, watch)
    book.lenient = False
    return book, seen


def catch_up(book: Book, entries: Entries, watch: int | None = None) -> bytes | None:
    """Apply what was written since and compare with the sealed head. Returns the root at size ``watch``.

    Raises TamperedLedger when an entry is missing, moved, changed or added.
    """
    size, root = entries.sealed()
    seen = book.tree.root() if watch == book.tree.size else None
    for place, entry in entries.read(book.tree.size):
        if place != book.tree.size or place >= size:
            raise TamperedLedger(book.where, f"entry {min(place, book.tree.size)} is missing, moved or added")
        book.apply(entry)
        if book.tree.size == watch:
            seen = book.tree.root()
    if book.tree.size != size:
        raise TamperedLedger(book.where, f"{size} entries were sealed, {book.tree.size} are there")
    if book.tree.root() != root or size == 0:
        raise TamperedLedger(book.where, "the entries do not hash to the sealed root")
    return seen


def matches(charge: Charge, other: Charge) -> bool:
    """The same cost for the same records; names are compared where both have one."""
    same_name = not charge.name or not other.name or charge.name == other.name
    return same_name and (charge.epsilon, charge.delta, charge.cohort) == (other.epsilon, other.delta, other.cohort)


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


def _as_charged(charged: dict[str, Any], record: dict[str, Any]) -> bool:
    """Does the release match its charge entry? Mostly they are written alike, so texts are compared first."""
    alike = charged["epsilon"] == record["epsilon"] and charged["name"] == record["name"]
    if alike and charged["delta"] == record.get("delta", "0") and charged["cohort"] == record["cohort"]:
        return True
    return matches(_read_charge(charged), _read_charge(record))


def _read_charge(data: dict[str, Any]) -> Charge:
    """The charge of a charge entry or of a release record; numbers are texts, or the entry is refused."""
    epsilon, delta, facts = data["epsilon"], data.get("delta", "0"), data.get("facts", _NO_FACTS)
    if not (epsilon is None or type(epsilon) is str) or type(delta) is not str or type(facts) is not dict:
        raise ValueError
    pure = None if epsilon is None else _epsilon(epsilon)
    return Charge.checked(pure, _delta(delta), Cohort.from_json(data["cohort"]), str(data["name"]), facts)
