"""From the entries of a store to their book: all of them, or those that were written since."""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.ledger.books.book import Book
from dpaudit.ledger.books.release_table import ReleaseTable
from dpaudit.ledger.books.snapshot import Snapshot
from dpaudit.ledger.errors import TamperedLedger
from dpaudit.ledger.spending.budget import Filter
from dpaudit.ledger.store.interface import EntryStore


def replay(
    entries: EntryStore, spends: Callable[[], Filter], watch: int | None = None, tabled: bool = False,
    snapshot: Snapshot | None = None,
) -> tuple[Book, bytes | None]:  # fmt: skip
    """The book of all entries, and the root at size ``watch``. Raises TamperedLedger, also for a ledger behind its durable head.

    Asking the filter about every charge takes longer than reading them, so it is asked once for each budget; only when one
    was not kept are the charges looked at one by one, for the place.
    Where the budget names another filter of dpaudit's than ``spends``, that one is used.
    ``tabled``: the book has a table of the releases. ``snapshot``: what the first entries add up to, by whom the caller
    trusts; these are not read, and the book has a table.
    """
    head = entries.head()
    watched = {size for size in (watch, None if head is None else head[0]) if size is not None}

    def start(lenient: bool = True) -> Book:
        if snapshot is not None and lenient:
            return snapshot.book(entries.where, spends())
        return Book(entries.where, spends(), lenient, ReleaseTable() if tabled else None)

    if snapshot is not None:
        snapshot.refuse_other(entries, head)
    book = start()
    roots = _apply_new(book, entries, watched)
    named = book.named_filter()
    if named is not None:
        spends = named
        book = start()
        roots = _apply_new(book, entries, watched)
    _hold_to_head(book, roots, head)
    if not book.within_budget():
        book = start(lenient=False)
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
