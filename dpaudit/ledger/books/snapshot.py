"""What the first entries of a ledger add up to, so that they need not be read again: the state of a book, and how to go on.

A snapshot holds the Merkle frontier (RFC 6962: the roots of the complete subtrees), kind, identity, budget, open charges, keys
and the table of releases. Sums of a filter are made again from the table: they are what its charges add up to.

What it may be trusted for. Whoever can write beside a ledger can write a snapshot, and one that leaves out a release would make
every later figure too low. So a snapshot counts only if a key signed it that the caller names (``snapshot_file``); an unsigned
one, or a check sum, would prove nothing and does not exist. Its signer says: I read these entries, they were whole and within
their budget, and they add up to this. What follows from it:

- What was signed cannot be changed, cut or exchanged; one of another ledger, or of more entries than are left, is refused
  (DPA007). An older one of the same ledger is harmless: more is read.
- The entries after it are read, and must continue its frontier to the sealed root and the durable head. So nothing can be
  inserted, and the figure is that of the entries that were signed and those that came after, never less.
- An old entry that is changed on disk afterwards is not read, so it does not show here: its releases count as they were signed.
  It shows in a run without a snapshot, which stays the default, and every answer says how many entries were not read.
- A revoked or stolen key can sign anything: drop the snapshots that it signed; a run without one makes a new one.
- Code that reads ledgers changes: a snapshot of another version of dpaudit is not used, and a new one is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims import DpauditError
from dpaudit.ledger.books.book import LEDGER_KINDS, Book, Open
from dpaudit.ledger.books.packed_texts import PackedTexts
from dpaudit.ledger.books.release_table import ReleaseTable
from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger
from dpaudit.ledger.records.charge_entries import charge_from_json, charge_to_json
from dpaudit.ledger.records.cohort import Cohort
from dpaudit.ledger.records.entry_frames import as_cohort, in_short
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.source_digests import version
from dpaudit.ledger.spending.budget import Budget, Filter
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.merkle import MerkleTree

SCHEMA = "dpaudit.snapshot/1"
COLUMNS = ("kind", "first", "last", "names", "name_ends", "ids", "id_ends", "keys", "key_ends", "key_places")


@dataclass(frozen=True)
class Snapshot:
    """``facts``: as JSON; ``columns``: the table and the keys, each as bytes."""

    facts: Mapping[str, Any]
    columns: Mapping[str, bytes]

    @property
    def size(self) -> int:
        return int(self.facts["size"])

    @property
    def is_current(self) -> bool:
        """Was it made by this version of dpaudit?"""
        return bool(self.facts["by"] == version())

    @classmethod
    def of(cls, book: Book) -> Snapshot:
        """Of a book with a table. Raises LedgerUnavailable where its budgets cannot be judged from its sums alone."""
        assert book.table is not None
        unused = book.unused()  # puts the last charge among the open ones
        book.settle()
        if not book.resumable:
            raise LedgerUnavailable(book.where, "a budget was set below what was spent: no snapshot can be made of it")
        charges = [
            {"place": place, "charge": charge_to_json(charge, opened.key)}
            for (place, opened), charge in zip(book.open_charges.items(), unused, strict=True)
        ]
        facts = {
            "schema": SCHEMA, "by": version(), "ledger": book.identity, "kind": book.kind, "version": book.version,
            "sources": book.sources, "size": book.tree.size, "root": book.tree.root().hex(),
            "frontier": [root.hex() for root in book.tree.frontier], "releases": book.releases, "moved": book.moved,
            "budget": None if book.budget is None else book.budget.to_json(), "filter": book.filter_name, "proven": book.proven,
            "open": charges, "cohorts": [cohort.to_json() for cohort in book.table.cohorts],
            "kinds": [
                {"release": kind.release.to_json(), "charge": charge_to_json(kind.charge, None)} for kind in book.table.kinds
            ],
        }  # fmt: skip
        return cls(facts, _columns(book.table, book.stored))

    def book(self, where: str, spends: Filter) -> Book:
        """Where reading goes on. Raises TamperedLedger for what no snapshot holds."""
        try:
            book = Book(where, spends, lenient=True, table=self._table())
            self._fill(book)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError, DpauditError):
            raise TamperedLedger(where, "its snapshot is not what dpaudit writes") from None
        return book

    def _fill(self, book: Book) -> None:
        facts, table = self.facts, book.table
        assert table is not None
        book.tree = MerkleTree.resumed(facts["size"], [bytes.fromhex(root) for root in facts["frontier"]])
        if book.tree.root().hex() != facts["root"] or facts["kind"] not in LEDGER_KINDS or facts["releases"] != len(table):
            raise ValueError
        book.kind, book.identity, book.version, book.sources = (facts[name] for name in ("kind", "ledger", "version", "sources"))
        book.proven, book.moved, book.releases = facts["proven"], facts["moved"], facts["releases"]
        keys = PackedTexts(self.columns["keys"], array("q", self.columns["key_ends"]))
        book.stored = dict(zip(keys, array("q", self.columns["key_places"]), strict=True))
        for each in facts["open"]:
            charge = charge_from_json(each["charge"])
            book.open_charges[each["place"]] = Open(charge, in_short(charge.cohort), charge.name, each["charge"].get("key"))
        charges = [*(kind.charge for kind in table.kinds), *(opened.charge for opened in book.open_charges.values())]
        budget = None if facts["budget"] is None else Budget(facts["budget"]["epsilon"], facts["budget"]["delta"])
        book.resume(budget, facts["filter"], all(charge.epsilon is not None for charge in charges))
        _add_spends(book, table)

    def _table(self) -> ReleaseTable:
        table = ReleaseTable()
        for kind in self.facts["kinds"]:
            table.kind_of(Release.from_json(kind["release"]), charge_from_json(kind["charge"]))
        if len(table.kinds) != len(self.facts["kinds"]):
            raise ValueError
        texts = {name: PackedTexts(self.columns[name], array("q", self.columns[ends])) for name, ends in _ENDS.items()}
        columns = array("i", self.columns["kind"]), *(array("q", self.columns[name]) for name in ("first", "last"))
        table.fill(columns, texts["names"], texts["ids"], [Cohort.from_json(each) for each in self.facts["cohorts"]])
        return table

    def refuse_other(self, entries: EntryStore, head: tuple[int, bytes] | None) -> None:
        """Raises TamperedLedger where these entries do not go on from here."""
        size, root = entries.sealed()
        first = next(entries.read(0), (0, b""))[1]
        if b'"id":"%s"' % str(self.facts["ledger"]).encode() not in first:
            raise TamperedLedger(entries.where, "the snapshot belongs to another ledger")
        least = size if head is None or head[0] == 0 else min(size, head[0])
        if least < self.size:
            raise TamperedLedger(entries.where, f"the snapshot has {self.size} entries, {least} are left")
        if size == self.size and root.hex() != self.facts["root"]:
            raise TamperedLedger(entries.where, "the entries under the snapshot were changed")


_ENDS = {"names": "name_ends", "ids": "id_ends"}


def _columns(table: ReleaseTable, stored: Mapping[str, int]) -> dict[str, bytes]:
    kind, first, last = table.columns()
    keys = PackedTexts()
    keys.extend(key.encode() for key in stored)
    found = [
        kind.tobytes(), first.tobytes(), last.tobytes(), bytes(table.names.letters), table.names.ends.tobytes(),
        bytes(table.ids.letters), table.ids.ends.tobytes(), bytes(keys.letters), keys.ends.tobytes(),
        array("q", stored.values()).tobytes(),
    ]  # fmt: skip
    return dict(zip(COLUMNS, found, strict=True))


def _add_spends(book: Book, table: ReleaseTable) -> None:
    """Every charge once more: those of the releases, and the open ones."""
    kinds, _, _ = table.columns()
    for sort, everyone, starts, stops in table.runs(kinds, len(table.kinds)):
        book.add_run(table.kinds[sort].charge, everyone, starts, stops)
    for row in np.concatenate((table.named(), table.others())).tolist():
        book.spends.add(table.kinds[kinds[row]].charge.to(table.cohort(row)))
    for opened in book.open_charges.values():
        book.spends.add(opened.charge.to(as_cohort(opened.who)))
