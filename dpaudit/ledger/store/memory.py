"""A ledger in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

from dpaudit.ledger.errors import UnreadableLedger
from dpaudit.ledger.spending.budget import Filter, Limit
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.ledger import Ledger, first_entry
from dpaudit.ledger.store.merkle import tree_root
from dpaudit.ledger.store.refusals import Refusals, summed


class MemoryLedger(Ledger):
    """A ledger that lives as long as its process: for simulation and tests."""

    def __init__(
        self,
        kind: str = "simulated",
        budget: Limit | None = None,
        spends: Callable[[], Filter] = PureSums,
    ) -> None:
        super().__init__(MemoryEntries([first_entry(kind)]), spends=spends)
        if budget is not None:
            self.limit(budget)


def open_entries(place: str, first: Callable[[], bytes] | None) -> MemoryEntries:
    """A new ledger in memory, whatever the place is called. Raises UnreadableLedger: there is none to be read."""
    if first is None:
        raise UnreadableLedger(place, "a ledger in memory is read by the process that made it, through its own object")
    return MemoryEntries([first()])


class MemoryEntries:
    """Entries in a list."""

    where, readonly, remote = "ledger in memory", False, False

    def __init__(self, entries: list[bytes]) -> None:
        self._list, self._root = entries, tree_root(entries)
        self._refused: list[Refusals] = []

    def snapshot(self) -> nullcontext[None]:
        return nullcontext()

    def transaction(self) -> nullcontext[None]:
        return nullcontext()

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        for place in range(start, len(self._list)):
            yield place, self._list[place]

    def write(self, place: int, entry: bytes, root: bytes) -> None:
        self._list.append(entry)
        self._root = root

    def sealed(self) -> tuple[int, bytes]:
        return len(self._list), self._root

    def head(self) -> None:
        return None

    def make_durable(self, size: int) -> None:
        return None

    def note_refusals(self, refused: Refusals) -> None:
        self._refused = summed([*self._refused, refused])

    def refusals(self) -> list[Refusals]:
        return self._refused

    def close(self) -> None:
        return None
