"""What a store of ledgers is: something that opens the entries at a place, and makes the first of them where there is none.

A new store is one module with a function of the form ``Store`` and one row of ``registry``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from dpaudit.ledger.store.commit_queue import CommitQueue, Request


class EntryStore(Protocol):
    """Where entries are kept. ``sealed`` is the (size, root) committed together with the last of them."""

    where: str
    readonly: bool
    remote: bool  # can it forget what is not durable while this process lives on?

    def snapshot(self) -> AbstractContextManager[None]:
        """What is read inside belongs to one moment."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """One writer at a time, all or nothing; everybody sees it when it ends, and ``make_durable`` makes it stay."""
        ...

    def make_durable(self, size: int) -> None:
        """So many entries survive whatever happens to the machine when this returns. Nothing is handed out before it."""
        ...

    def head(self) -> tuple[int, bytes] | None:
        """The (size, root) that was made durable apart from the entries, before the snapshot began; None where none is kept."""
        ...

    def read(self, start: int) -> Iterator[tuple[int, bytes]]: ...

    def write(self, place: int, entry: bytes, root: bytes) -> None: ...

    def sealed(self) -> tuple[int, bytes]: ...

    def close(self) -> None: ...


class Member(Protocol):
    """A ledger, as seen by a store that commits for several of them at once."""

    @property
    def lock(self) -> AbstractContextManager[Any]: ...

    def size(self) -> int:
        """How many entries it has read."""
        ...

    def prepare(self, much: bool = False) -> None:
        """Read what was written since, outside the transaction, where it may be ``much``."""
        ...

    def run(self, requests: list[Request]) -> None:
        """Inside a transaction: read the rest, decide, write."""
        ...

    def settle(self, committed: bool) -> None:
        """How the transaction ended. Not committed, or nobody knows: all entries are read again."""
        ...


@runtime_checkable
class CombiningStore(EntryStore, Protocol):
    """A store whose ledgers share transactions: one commit, one wait for the disk, for all that is asked of them meanwhile."""

    def join(self, member: Member) -> CommitQueue:
        """The queue in which this ledger's requests wait, each with this store as its owner."""
        ...


@runtime_checkable
class BindsCertificates(Protocol):
    """A store that several hosts share, and that keeps which of its ledgers a certificate is bound to."""

    def certificate_holder(self, digest: str, identity: str, *, bind: bool) -> str | None: ...


class Store(Protocol):
    """Opens the entries at a place.

    ``first``: makes the entry that a ledger starts with; a place that holds none gets it, all or nothing, and is opened for
    writing. None: for reading only, and nothing is made. Raises UnreadableLedger, TamperedLedger and LedgerUnavailable.
    """

    def __call__(self, place: str, first: Callable[[], bytes] | None) -> EntryStore: ...
