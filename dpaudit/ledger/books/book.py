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
from typing import Any, NamedTuple

from dpaudit.ledger.books.entry_pairs import Awaited, Pair
from dpaudit.ledger.books.release_table import ReleaseTable
from dpaudit.ledger.errors import InvalidRecord, TamperedLedger
from dpaudit.ledger.records.charge_entries import charge_from_json, pays_for
from dpaudit.ledger.records.entry_frames import EntryParts, Who, as_cohort, in_short, split
from dpaudit.ledger.records.printable_text import is_plain
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.source_digests import is_sources
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.budget import Budget, Charge, Filter
from dpaudit.ledger.spending.totals import SpendingTotals
from dpaudit.ledger.store.merkle import MerkleTree

FORMAT = 1
LEDGER_KINDS = ("deployment", "simulated")

LONGEST_KEY = 256
_MOST_FRAMES = 1024


class Book(SpendingTotals):
    """The state after some entries. ``apply`` raises TamperedLedger for one that no ledger writes.

    Every entry must be its own canonical JSON, and every release one that ``Release.to_json`` writes.
    ``table``: where the releases are put down, for whoever accounts for them.
    """

    def __init__(self, where: str, spends: Filter, lenient: bool = False, table: ReleaseTable | None = None) -> None:
        super().__init__(spends, lenient)
        self.where, self.table = where, table
        self.tree = MerkleTree()
        self.kind = self.identity = self.version = ""
        self.proven = False  # do its doors take proven releases only, from some budget on?
        self.sources: dict[str, str] = {}  # digests of the code that wrote the last entries
        self.open_charges: dict[int, Open] = {}
        self.stored: dict[str, int] = {}  # idempotency key → place of its release
        self.releases = 0
        self.moved: str | None = None  # where to
        self._allowed = False
        self._frames: dict[tuple[bytes, bytes], Charge | Release] = {}  # of entries that were read in full
        self._paid: dict[tuple[int, int], Payment] = {}  # charges and what they paid for, by the ids of both
        self._pairs: dict[bytes, Pair] = {}  # by what is between the cohort and the name of the charge
        self._awaited: Awaited | None = None  # a charge that is not among the open ones yet
        self._last: tuple[int, EntryParts] | None = None  # the last charge that was read by its parts

    def apply(self, entry: bytes, allowed: bool = False) -> None:
        """``allowed``: whoever writes it has asked the filter about its charge, and is not told again."""
        self._allowed = allowed
        try:
            if not self._apply_to_pair(entry):
                self._apply_any(entry)
        except (AttributeError, LookupError, TypeError, ValueError, InvalidRecord, RecursionError):
            raise TamperedLedger(self.where, f"entry {self.tree.size} is not what a ledger writes there") from None
        self.tree.append(entry)

    def _apply_to_pair(self, entry: bytes) -> bool:
        """Is it half of a pair that was seen before, but for cohort, name and values? Nearly all entries are."""
        awaited = self._awaited
        if awaited is not None:
            if awaited.is_release(entry):
                self._awaited = None
                self.releases += 1
                if self.table is not None:
                    self.table.add(awaited.pair.kind, awaited.who, awaited.name)
                return True
            self._keep_open(awaited)
        if self._pairs:
            self._awaited = awaited = Awaited.by(entry, self._pairs, self.tree.size)
            if awaited is not None:
                self.spend(awaited.pair.charge, awaited.who, self._allowed)
                return True
        return False

    def _keep_open(self, awaited: Awaited) -> None:
        """Another entry came first."""
        self.open_charges[awaited.place] = Open(awaited.pair.charge, awaited.who, awaited.name.decode(), None)
        self._awaited = None

    def _apply_any(self, entry: bytes) -> None:
        parts = split(entry)
        known = None if parts is None else self._frames.get(parts.frame)
        if parts is None or known is None or self.moved is not None:
            self._read(entry, parts)
        elif isinstance(known, Charge):
            self._charge(known, parts)
        else:
            self._release(known, parts)

    def unused(self) -> list[Charge]:
        if self._awaited is not None:
            self._keep_open(self._awaited)
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
        read = charge_from_json(data) if opens else _release_from_json(data)
        frame = (b"", b"") if parts is None else parts.frame
        whole = EntryParts(frame, in_short(read.cohort), read.name, data.get("key"), data.get("charge"), opens)
        self._charge(read, whole) if isinstance(read, Charge) else self._release(read, whole)
        if parts is not None:
            if len(self._frames) >= _MOST_FRAMES:
                self._forget_frames()
            self._frames[frame] = read if isinstance(read, Charge) else read.without_values()

    def _forget_frames(self) -> None:
        self._frames.clear()
        self._paid.clear()
        self._pairs.clear()
        self._last = None

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
        self._pairs.clear()

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
        self._last = self.tree.size, parts

    def _release(self, release: Release, parts: EntryParts) -> None:
        key, charge = parts.key, release.charge()
        if parts.charge is None:
            self.spend(charge, parts.who, self._allowed)
            kind = self._payment(charge, release).kind
        else:
            opened = self.open_charges.pop(parts.charge)
            same_name, key = opened.name in ("", parts.name), opened.key
            if parts.key is not None or not same_name or opened.who != parts.who:
                raise ValueError
            kind = self._payment(opened.charge, release).kind
            self._learn(opened, parts, kind)
        if key is not None:
            if key in self.stored or not is_plain(key) or not 0 < len(key) <= LONGEST_KEY:
                raise ValueError
            self.stored[key] = self.tree.size
        self.releases += 1
        if self.table is not None:
            self.table.add(kind, parts.who, parts.name.encode())

    def _payment(self, charge: Charge, release: Release) -> Payment:
        """Raises ValueError unless the charge pays for what was made of it; those of two frames are compared once."""
        made = release.charge()
        found = self._paid.get((id(charge), id(made)))
        if found is None:
            if charge is not made and not pays_for(charge, made):
                raise ValueError
            kind = 0 if self.table is None else self.table.kind_of(release, charge)
            found = Payment(charge, made, kind)
            if len(self._paid) >= _MOST_FRAMES:
                self._paid.clear()
            self._paid[id(charge), id(made)] = found
        return found

    def _learn(self, opened: Open, parts: EntryParts, kind: int) -> None:
        """A release next to its charge, both of known frames and without a key: the next such pair is read quickly."""
        last, self._last = self._last, None
        if last is None or last[0] != parts.charge or last[0] + 1 != self.tree.size or opened.key is not None:
            return
        frame = last[1].frame
        if self._frames.get(frame) is opened.charge and parts.frame in self._frames and opened.name == parts.name:
            pair = Pair.of(frame[0], parts.frame, opened.charge, kind)
            self._pairs[pair.middle] = pair


_PUBLIC: dict[str, Callable[[Book, dict[str, Any]], None]] = {
    "ledger": Book._open, "budget": Book._limit, "code": Book._code, "moved": Book._move
}  # fmt: skip


class Payment(NamedTuple):
    """A charge that pays for a release, and the place of their kind in the table. Keeps both, so that their ids stay theirs."""

    charge: Charge
    made: Charge
    kind: int


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
