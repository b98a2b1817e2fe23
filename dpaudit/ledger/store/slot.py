"""Between a charge and its release."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from dpaudit.claims import InvalidValue
from dpaudit.ledger.books.book import LONGEST_KEY
from dpaudit.ledger.records.printable_text import plain
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.spending.budget import Charge

if TYPE_CHECKING:
    from dpaudit.ledger.store.ledger import Ledger


@dataclass
class Slot:
    """A charge that waits for its release. ``stored``: what an earlier attempt with its key stored."""

    ledger: Ledger
    charge: Charge
    key: str | None
    place: int
    stored: Release | None
    later: bool = False  # durable when it is stored or left

    def store(self, release: Release) -> Release:
        """Store durably and return what may be handed out: under a key, the first release that was stored.

        Raises InvalidValue when the release is not the one that was charged, or the slot is used already.
        """
        if self.stored is not None:
            raise InvalidValue("slot", self.charge.name, "used once; its release is stored")
        self.stored = self.ledger._store(self, release)
        return self.stored

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.later and self.stored is None:
            self.ledger.make_durable()


def check_key(key: object) -> None:
    """Raises InvalidValue for what is no idempotency key."""
    if key is not None and (not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY):
        raise InvalidValue("key", type(key).__name__, f"a text of at most {LONGEST_KEY} characters")
    if key is not None:
        plain(key, "key")
