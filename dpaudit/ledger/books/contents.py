"""What an accountant reads of a ledger: its releases as a table, its budget, and charges that were never used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.release_table import ReleaseTable
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.books.snapshot_file import Snapshots
from dpaudit.ledger.spending.budget import Budget, Charge
from dpaudit.ledger.spending.pure_sums import PureSums


@dataclass(frozen=True)
class LedgerContents:
    """``unused``: charges without a release, which stay spent; ``covered``: entries that a snapshot vouched for."""

    releases: ReleaseTable
    budget: Budget | None = None
    unused: Sequence[Charge] = ()
    covered: int = 0

    @classmethod
    def of(cls, book: Book, covered: int = 0) -> LedgerContents:
        """Of a book with a table."""
        assert book.table is not None
        return cls(book.table, book.budget, book.unused(), covered)


def read_contents(path: str | Path, snapshots: Snapshots | None = None) -> LedgerContents:
    """Of a ledger or an export, in one pass that checks every entry; with ``snapshots``, those after it alone.

    Raises TamperedLedger or UnreadableLedger.
    """
    from dpaudit.ledger.opening import read_entries

    entries = read_entries(path)
    try:
        with entries.snapshot():
            if snapshots is not None:
                found = snapshots.replay(entries, PureSums)
                return LedgerContents.of(found.book, found.covered)
            return LedgerContents.of(replay(entries, PureSums, tabled=True)[0])
    finally:
        entries.close()
