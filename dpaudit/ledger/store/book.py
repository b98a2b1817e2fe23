"""What the entries of a ledger add up to: its kind, budget, spends, open charges and Merkle tree.

A ledger is a sequence of canonical JSON texts, the leaves of the tree:

    {"entry": "ledger", "format": 1, "kind", "id", "sources", "version"}   the first, and only the first
    {"entry": "code", "sources", "version"}                                other code writes from here on
    {"entry": "budget", "epsilon": …, "delta": …, "filter": …[, "proven": true]}   set once, then only tightened
    {"entry": "charge", "name", "epsilon", "delta", "cohort", "facts"[, "key"]}    durable before any noise
    {"entry": "release", "release": {…}, "charge": its place}              closes that charge
    {"entry": "release", "release": {…}[, "key"]}                          charge and release in one
    {"entry": "moved", "to": where}                                        the last: nothing is granted here any more
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.ledger.errors import InvalidRecord, TamperedLedger
from dpaudit.ledger.records.charge_entries import charge_from_json, pays_for
from dpaudit.ledger.records.entry_frames import EntryParts, Who, as_cohort, in_short, split
from dpaudit.ledger.records.printable_text import is_plain
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.source_digests import is_sources
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.budget import Budget, Charge, Filter
from dpaudit.ledger.spending.totals import SpendingTotals
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.merkle import MerkleTree

FORMAT = 1
LEDGER_KINDS = ("deployment", "simulated")

LONGEST_KEY = 256
_MOST_FRAMES = 1024


class Book(SpendingTotals):
    """The state after some entries. ``apply`` raises TamperedLedger for one that no ledger writes.

    Every entry must be its own canonical JSON, and every release one that ``Release.to_json`` writes.
    """

    def __init__(self, where: str, spends: Filter, lenient: bool = False) -> None:
        super().__init__(spends, lenient)
        self.where = where
        self.tree = MerkleTree()
        self.kind = self.identity = self.version = ""
        self.proven = False  # do its doors take proven releases only, from some budget on?
        self.sources: dict[str, str] = {}  # digests of the code that wrote the last entries
        self.open_charges: dict[int, Open] = {}
        self.stored: dict[str, int] = {}  # idempotency key → place of its release
        self.releases = 0
        self.moved: str | None = None  # where to
        self._allowed = False
        self._paid: tuple[Charge | None, Charge | None] = (None, None)  # the last charge and what it paid for
        self._frames: dict[tuple[bytes, bytes], Charge] = {}  # of entries that were read in full

    def apply(self, entry: bytes, allowed: bool = False) -> None:
        """``allowed``: whoever writes it has asked the filter about its charge, and is not told again."""
        self._allowed = allowed
        parts = split(entry)
        charge = None if parts is None else self._frames.get(parts.frame)
        try:
            if parts is None or charge is None or self.moved is not None:
                self._read(entry, parts)
            elif parts.is_charge:
                self._charge(charge, parts)
            else:
                self._release(charge, parts)
        except (AttributeError, LookupError, TypeError, ValueError, InvalidRecord, RecursionError):
            raise TamperedLedger(self.where, f"entry {self.tree.size} is not what a ledger writes there") from None
        self.tree.append(entry)

    def unused(self) -> list[Charge]:
        return [replace(opened.charge, name=opened.name, cohort=as_cohort(opened.who)) for opened in self.open_charges.values()]

    def _read(self, entry: bytes, parts: EntryParts | None) -> None:
        """Read an entry in full."""
        data = json.loads(entry.decode("ascii"))
        kind = data["entry"]
        if (kind == "ledger") != (self.tree.size == 0) or self.moved is not None or canonical(data) != entry:
            raise ValueError
        if kind in _PUBLIC:
            _PUBLIC[kind](self, data)
            return
        opens = kind == "charge"
        charge = charge_from_json(data) if opens else _release_from_json(data).charge()
        whole = EntryParts((b"", b""), in_short(charge.cohort), charge.name, data.get("key"), data.get("charge"), opens)
        self._charge(charge, whole) if opens else self._release(charge, whole)
        if parts is not None:
            if len(self._frames) >= _MOST_FRAMES:
                self._frames.clear()
            self._frames[parts.frame] = charge

    def _open(self, data: dict[str, Any]) -> None:
        if data["format"] != FORMAT or data["kind"] not in LEDGER_KINDS or not is_plain(data["id"]):
            raise ValueError
        self.kind, self.identity = data["kind"], data["id"]
        self._code(data)

    def _code(self, data: dict[str, Any]) -> None:
        sources, version = data.get("sources", {}), data.get("version", "")
        if not is_sources(sources) or not is_plain(version):
            raise ValueError
        self.sources, self.version = sources, version

    def _move(self, data: dict[str, Any]) -> None:
        if not is_plain(data["to"]) or not data["to"] or data.keys() != {"entry", "to"}:
            raise ValueError
        self.moved = data["to"]

    def _limit(self, data: dict[str, Any]) -> None:
        budget, proven = Budget(data["epsilon"], data["delta"]), data.get("proven", False)
        written = {"entry": "budget", **budget.to_json(), "filter": data["filter"], **({"proven": True} if proven else {})}
        if not is_plain(data["filter"]) or data != written or type(proven) is not bool:
            raise ValueError
        self.proven = self.proven or proven
        self.limit(budget, data["filter"])

    def _charge(self, charge: Charge, parts: EntryParts) -> None:
        self.spend(charge, parts.who, self._allowed)
        self.open_charges[self.tree.size] = Open(charge, parts.who, parts.name, parts.key)

    def _release(self, charge: Charge, parts: EntryParts) -> None:
        key = parts.key
        if parts.charge is None:
            self.spend(charge, parts.who, self._allowed)
        else:
            opened = self.open_charges.pop(parts.charge)
            same_name, key = opened.name in ("", parts.name), opened.key
            if parts.key is not None or not same_name or opened.who != parts.who:
                raise ValueError
            self._check_payment(opened.charge, charge)
        if key is not None:
            if key in self.stored or not is_plain(key) or not 0 < len(key) <= LONGEST_KEY:
                raise ValueError
            self.stored[key] = self.tree.size
        self.releases += 1

    def _check_payment(self, charge: Charge, made: Charge) -> None:
        """Raises ValueError unless the charge pays for what was made of it; those of two frames are compared once."""
        if self._paid[0] is not charge or self._paid[1] is not made:
            if not pays_for(charge, made):
                raise ValueError
            self._paid = charge, made


_PUBLIC: dict[str, Callable[[Book, dict[str, Any]], None]] = {
    "ledger": Book._open, "budget": Book._limit, "code": Book._code, "moved": Book._move
}  # fmt: skip


@dataclass(slots=True)
class Open:
    """A charge that waits for its release."""

    charge: Charge  # name and cohort stand beside it
    who: Who
    name: str
    key: str | None


def _release_from_json(data: dict[str, Any]) -> Release:
    """The release of an entry, if it is one that a ledger writes."""
    record = data["release"]
    release = Release.from_json(record)
    if data["entry"] != "release" or not data.keys() <= {"entry", "release", "charge", "key"} or None in data.values():
        raise ValueError
    if not release.is_written_as(record) or type(data.get("charge", 0)) is not int:
        raise ValueError
    return release


def replay(entries: EntryStore, spends: Callable[[], Filter], watch: int | None = None) -> tuple[Book, bytes | None]:
    """The book of all entries, and the root at size ``watch``. Raises TamperedLedger, also for a ledger behind its durable head.

    Asking the filter about every charge takes longer than reading them, so it is asked once for each budget; only when one
    was not kept are the charges looked at one by one, for the place.
    Where the budget names another filter of dpaudit's than ``spends``, that one is used.
    """
    head = entries.head()
    watched = {size for size in (watch, None if head is None else head[0]) if size is not None}
    book = Book(entries.where, spends(), lenient=True)
    roots = _apply_new(book, entries, watched)
    named = book.named_filter()
    if named is not None:
        spends = named
        book = Book(entries.where, spends(), lenient=True)
        roots = _apply_new(book, entries, watched)
    _hold_to_head(book, roots, head)
    if not book.within_budget():
        book = Book(entries.where, spends())
        roots = _apply_new(book, entries, watched)
    book.lenient = False
    return book, None if watch is None else roots.get(watch)


def _hold_to_head(book: Book, roots: dict[int, bytes], head: tuple[int, bytes] | None) -> None:
    if head is None or head[0] == 0:
        return
    if book.tree.size < head[0]:
        missing = f"{head[0]} entries were acknowledged, {book.tree.size} are left"
        raise TamperedLedger(book.where, f"{missing}; put back what is missing (the log beside it, or a copy)")
    if roots.get(head[0]) != head[1]:
        raise TamperedLedger(book.where, "the entries are not those that were acknowledged")


def catch_up(book: Book, entries: EntryStore) -> None:
    """Apply what was written since and compare with the sealed head.

    Raises TamperedLedger when an entry is missing, moved, changed or added.
    """
    if entries.sealed() != (book.tree.size, book.tree.root()) or not book.tree.size:
        _apply_new(book, entries, set())


def _apply_new(book: Book, entries: EntryStore, watched: set[int]) -> dict[int, bytes]:
    """Catch up; returns the roots at these sizes, as far as they are passed."""
    size, root = entries.sealed()
    roots = {book.tree.size: book.tree.root()} if book.tree.size in watched else {}
    for place, entry in entries.read(book.tree.size):
        if place < 0:
            raise TamperedLedger(book.where, "an entry stands before the first")
        if place != book.tree.size or place >= size:
            raise TamperedLedger(book.where, f"entry {min(place, book.tree.size)} is missing, moved or added")
        book.apply(entry)
        if book.tree.size in watched:
            roots[book.tree.size] = book.tree.root()
    if book.tree.size != size:
        raise TamperedLedger(book.where, f"{size} entries were sealed, {book.tree.size} are there")
    if book.tree.root() != root or size == 0:
        raise TamperedLedger(book.where, "the entries do not hash to the sealed root")
    return roots
