"""The ledger: charges are committed before noise is drawn, and nothing is returned before it is durable."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from dpaudit.claims import DpauditError, InvalidValue, show
from dpaudit.ledger.books.book import FORMAT, LEDGER_KINDS, Book
from dpaudit.ledger.books.contents import LedgerContents
from dpaudit.ledger.books.replay import catch_up, replay
from dpaudit.ledger.books.snapshot_file import Snapshots
from dpaudit.ledger.errors import Interrupted, LedgerUnavailable, TamperedLedger, WrongKind
from dpaudit.ledger.records.charge_entries import matches
from dpaudit.ledger.records.entry_texts import charge_text, release_text
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.source_digests import sources, version
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.spending.budget import Budget, Charge, Filter, Limit, Spend, refuse_overrun
from dpaudit.ledger.spending.filters import filter_for, kind_of
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.commit_queue import CommitQueue, Request, Result
from dpaudit.ledger.store.interface import BindsCertificates, CombiningStore, EntryStore
from dpaudit.ledger.store.refusals import KeepsRefusals, RefusalCounter, Refusals, counted, forget
from dpaudit.ledger.store.release_reader import ReleaseReader
from dpaudit.ledger.store.slot import Slot, check_key


@dataclass(frozen=True)
class Head:
    """How many entries a ledger has, and the root of its Merkle tree (64 hexadecimal digits)."""

    size: int
    root: str


class Ledger:
    """An append-only record of releases, with a budget that several processes and threads may spend from.

    Opening replays and checks all entries, or those after a signed snapshot. Any method may raise TamperedLedger or
    LedgerUnavailable.
    """

    def __init__(
        self, entries: EntryStore, *, spends: Callable[[], Filter] = PureSums, snapshots: Snapshots | None = None
    ) -> None:
        self._entries, self._spends, self._snapshots = entries, spends, snapshots
        self._lock = threading.RLock()
        self._commits = entries.join(self) if isinstance(entries, CombiningStore) else CommitQueue(self._commit)
        self._book: Book
        self._behind = True  # the book may differ from what is committed
        self._shared = False  # did others write between the last two commits?
        self._closing: list[Callable[[], object]] = []
        self.refused = RefusalCounter(entries.note_refusals if isinstance(entries, KeepsRefusals) else forget)
        self._refresh()
        if not entries.readonly:
            self.make_durable()  # what a killed process left unacknowledged counts from here on

    @property
    def kind(self) -> str:
        """ "deployment" or "simulated", fixed at creation."""
        return self._book.kind

    @property
    def identity(self) -> str:
        return self._book.identity

    @property
    def where(self) -> str:
        """Its file."""
        return self._entries.where

    @property
    def budget(self) -> Budget | None:
        return self._book.budget

    @property
    def filter_name(self) -> str:
        """The filter that keeps the budget: "pure-sums", or another that the budget was set with."""
        return self._book.filter_name

    @property
    def proven(self) -> bool:
        """Do doors on it take only releases whose sensitivity is proven? Set with a budget, never unset."""
        return self._book.proven

    @property
    def moved(self) -> str | None:
        """Where it was moved to; nothing is granted here then."""
        return self._book.moved

    def close_for_move(self, place: str) -> None:
        """The last entry: from here on every door on this ledger refuses, and names the place."""
        self._submit(lambda: self._put({"entry": "moved", "to": place}))

    def require(self, kind: str) -> None:
        """Raise WrongKind unless this ledger takes releases of that kind."""
        if kind != self.kind:
            raise WrongKind(self._entries.where, self.kind, kind)

    @property
    def sources(self) -> dict[str, str]:
        """Digests of the code that writes it: dpaudit's, and the algorithm's where it was given on opening."""
        return dict(self._book.sources)

    def note_code(self, code: str | Path | None = None) -> None:
        """Write down that this code releases from here on, unless it stands there. Raises InvalidValue."""
        digests = {**self._book.sources, **sources(code)}
        if (digests, version()) != (self._book.sources, self._book.version):
            self._submit(lambda: self._put({"entry": "code", "sources": digests, "version": version()}))

    def limit(self, budget: Limit, filter: str | None = None, *, proven: bool = False) -> None:
        """Set the budget for good, for every process; later it can only be tightened. Raises InvalidValue.

        ``filter``: "pure-sums", "zcdp", "renyi", "renyi(8)" with its order, or "gaussian", chosen with the first budget (one
        budget, one filter). Default: the budget's, else the ledger's own.
        ``proven``: from here on, doors on this ledger take proven releases only; a certificate needs that from the start.
        """
        new = Budget.of(budget)
        filter = new.filter if filter is None else filter
        name = None if filter is None else filter_for(filter, new)
        self._submit(lambda: self._limit(new, filter, name, proven))
        self._refresh()

    def _limit(self, new: Budget, filter: str | None, name: str | None, proven: bool) -> None:
        old = self._book.budget
        if old is not None and name is not None and not _continues(filter, name, self._book.filter_name):
            raise InvalidValue("filter", filter, f"{self._book.filter_name}, as its budget was set with")
        if old == new and proven <= self._book.proven:
            return
        if old is not None and not old.allows((new.epsilon, new.delta)):
            raise InvalidValue("budget", show(new.epsilon), f"at most its own, ε={show(old.epsilon)}, δ={show(old.delta)}")
        stamp = {"proven": True} if proven else {}
        kept = name if old is None or name is None else filter_for(kind_of(self._book.filter_name), new)
        self._put({"entry": "budget", **new.to_json(), "filter": kept or self._filter.name, **stamp})

    @counted
    def charge(self, charge: Charge, key: str | None = None, *, later: bool = False) -> Slot:
        """Charge now, durably; then draw, and ``store`` in the slot. A charge that is never used stays spent.

        With a key whose release is stored, nothing is charged and ``slot.stored`` holds it. A key that was
        charged but never stored (a crash) is charged again: its noise may have been drawn.
        ``later``: the charge is committed, and made durable when the slot is stored or left: a machine that stops before then has
        handed out nothing that rests on it. Only for ``with``.
        Raises BudgetExceeded, and InvalidValue for a key that belongs to another release.
        """
        allowed_at, later = self._refuse_early(key, charge), later and not self._entries.remote

        def work() -> Slot:
            done = self._find(key, charge)
            if done is not None:
                return Slot(self, charge, key, -1, done)
            if allowed_at != self._book.tree.size:  # equal: nothing was written since, and it was allowed
                self._refuse(charge)
            return Slot(self, charge, key, self._put_text(charge_text(charge, key), allowed=True), None, later)

        slot = self._submit(work, durable=not later)
        if later and slot.stored is not None:
            self.make_durable()
        return slot

    @counted
    def append(self, release: Release, key: str | None = None) -> Release:
        """Charge and store at once, for values that need no draw; returns what is stored under the key."""
        charge = release.charge()
        allowed_at = self._refuse_early(key, charge)

        def work() -> Release:
            done = self._find(key, charge)
            if done is not None:
                return done
            if allowed_at != self._book.tree.size:
                self._refuse(charge)
            self._put_text(release_text(release, key=key), allowed=True)
            return release

        return self._submit(work)

    def refusals(self) -> list[Refusals]:
        """How many releases its budget refused, by hour; none where its store does not keep them. Not part of the record."""
        self.refused.flush()
        return self._entries.refusals() if isinstance(self._entries, KeepsRefusals) else []

    def certificate_holder(self, digest: str, *, bind: bool) -> str | None:
        """The ledger beside this one that a certificate is bound to; ``bind``: to this one, if to none. None: to none, or this
        store shares no such knowledge between hosts."""
        store = self._entries
        return store.certificate_holder(digest, self.identity, bind=bind) if isinstance(store, BindsCertificates) else None

    def make_durable(self) -> None:
        """Return when every entry that this object has seen will survive the machine."""
        with self._lock:
            self._entries.make_durable(self._book.tree.size)

    def releases(self) -> Iterator[Release]:
        """All stored releases, in the order of storing."""
        reader = ReleaseReader()
        for entry in self.entries():
            release = self._read_release(entry, reader)
            if release is not None:
                yield release

    def contents(self) -> LedgerContents:
        """What an accountant reads of it, as a table; every entry is checked again on the way."""
        with self._lock, self._entries.snapshot():
            return LedgerContents.of(replay(self._entries, self._spends, tabled=True)[0])

    def unused_charges(self) -> list[Charge]:
        """Charges without a release: drawn and lost in a crash, or still being drawn. They stay spent."""
        self._refresh()
        return self._book.unused()

    def spent(self) -> Spend:
        """The largest Σε and Σδ of any record, unused charges included."""
        self._refresh()
        return self._filter.worst()

    def head(self) -> Head:
        self._refresh()
        self.make_durable()
        return Head(self._book.tree.size, self._book.tree.root().hex())

    def entries(self) -> Iterator[bytes]:
        """The canonical JSON of every entry up to now: the leaves of the Merkle tree."""
        self._refresh()
        size = self._book.tree.size
        for place, entry in self._entries.read(0):
            if place >= size:
                return
            yield entry

    def at_close(self, finish: Callable[[], object]) -> None:
        """Call this before the ledger closes: whoever holds a charge stores what was made of it."""
        self._closing.append(finish)

    def close(self) -> None:
        """Leave one file behind. Closing twice is fine."""
        try:
            while self._closing:  # not under the lock, which another thread may need to commit what is stored here
                self._closing.pop()()
        finally:
            with self._lock:
                self.refused.flush()
                self._entries.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise DpauditError("a ledger is not copied or pickled, as a copy would spend its budget again; open it by its path")

    def _store(self, slot: Slot, release: Release) -> Release:
        if not matches(slot.charge, release.charge()):
            raise InvalidValue("release", release.name, "the one that was charged: same name, ε, δ, cohort and facts")

        def work() -> Release:
            done = self._find(slot.key, slot.charge)
            if done is not None:
                return done
            self._put_text(release_text(release, slot.place))
            return release

        return self._submit(work)

    def _find(self, key: str | None, charge: Charge) -> Release | None:
        if key is None or key not in self._book.stored:
            return None
        release = self._read_release(next(self._entries.read(self._book.stored[key]))[1], ReleaseReader())
        if release is None:
            raise TamperedLedger(self._entries.where, "a release is not what a ledger writes")
        if not matches(charge, release.charge()):
            raise InvalidValue("key", key, "used for one release only; this one is taken")
        return release

    def _read_release(self, entry: bytes, reader: ReleaseReader) -> Release | None:
        try:
            return reader.read(entry)
        except DpauditError:
            raise TamperedLedger(self._entries.where, "a release is not what a ledger writes") from None

    def _refuse(self, charge: Charge) -> None:
        if self._book.budget is None:
            return
        if self._book.filter_name != self._filter.name:
            raise InvalidValue("filter", self._filter.name, f"{self._book.filter_name}, as its budget was set with")
        refuse_overrun(self._filter, charge, self._book.budget)

    def _refuse_early(self, key: str | None, charge: Charge) -> int | None:
        """What the entries read so far forbid stays forbidden: spends never fall, budgets never grow.

        Returns the size of the ledger at which the charge is allowed, where it was looked at.
        """
        check_key(key)
        if key is None and self._lock.acquire(blocking=False):  # whoever waits here would not be combined with others
            try:
                if not self._behind and not self._entries.readonly:
                    self._refuse(charge)
                    return self._book.tree.size
            finally:
                self._lock.release()
        return None

    def _submit(self, work: Callable[[], Result], durable: bool = True) -> Result:
        if self._entries.readonly:
            raise LedgerUnavailable(self._entries.where, "opened for reading only")
        return self._commits.submit(work, durable, self._entries)

    def _commit(self, requests: list[Request]) -> None:
        """One transaction on the newest state, durable; after a failure the entries are read again."""
        with self._lock:
            self.prepare()
            with self._entries.transaction():
                self.run(requests)
            self.settle(committed=True)
            if any(request.durable for request in requests):
                self._entries.make_durable(self._book.tree.size)
            for request in requests:
                request.done = True

    @property
    def lock(self) -> threading.RLock:
        return self._lock

    def prepare(self, much: bool = False) -> None:
        """Read what was written since, where it may be much: outside the lock that others wait for."""
        if self._shared or self._behind or much:
            self._refresh()

    def run(self, requests: list[Request]) -> None:
        """Inside a transaction: read the rest, then do what is asked."""
        known = self._book.tree.size
        self._sync()
        self._shared = self._book.tree.size > known and not self._entries.remote  # which reads with the lock what is little
        for request in requests:
            request.run(self.size)

    def settle(self, committed: bool) -> None:
        self._behind = not committed

    def size(self) -> int:
        return self._book.tree.size

    def _refresh(self) -> None:
        with self._lock:
            try:
                with self._entries.snapshot():
                    self._sync()
            except Interrupted:
                self._behind = True
                with self._entries.snapshot():
                    self._sync()

    def _sync(self) -> None:
        if not self._behind:
            self._behind = True
            catch_up(self._book, self._entries)
            self._behind = self._book.named_filter() is not None  # a budget that was set since
        if self._behind:
            self._book = self._replayed()
            self._filter = self._book.spends
        self._behind = False

    def _replayed(self) -> Book:
        """A snapshot that is gone by now costs time, and nothing else: all is read then."""
        if self._snapshots is None or not self._snapshots.path.exists():
            return replay(self._entries, self._spends)[0]
        book = self._snapshots.replay(self._entries, self._spends).book
        book.table = None  # which only an account asks for
        return book

    def _put(self, data: dict[str, Any]) -> int:
        return self._put_text(canonical(data))

    def _put_text(self, entry: bytes, allowed: bool = False) -> int:
        """``allowed``: the filter was asked about its charge on this very state."""
        if self._book.moved is not None:
            raise LedgerUnavailable(self._entries.where, f"it was moved to {self._book.moved}; use that")
        place = self._book.tree.size
        self._behind = True
        self._book.apply(entry, allowed)
        self._entries.write(place, entry, self._book.tree.root())
        return place


def _continues(asked: str | None, name: str, before: str) -> bool:
    """Is it the filter that the ledger has? An order that was left out is the one from before."""
    return kind_of(name) == kind_of(before) or (asked == "renyi" and before.startswith("renyi("))


def first_entry(kind: str, code: str | Path | None = None) -> bytes:
    """The entry that every ledger starts with. Raises InvalidValue."""
    if kind not in LEDGER_KINDS:
        raise InvalidValue("kind", kind, "one of " + ", ".join(LEDGER_KINDS))
    public = {"entry": "ledger", "format": FORMAT, "kind": kind, "id": secrets.token_hex(16)}
    return canonical({**public, "sources": sources(code), "version": version()})
