"""The connections of this process to a database, shared by all its ledgers there: one to read, one to write."""

from __future__ import annotations

import os
import threading

from dpaudit.ledger.store.postgres.address import Address
from dpaudit.ledger.store.postgres.combined_commits import CombinedCommits
from dpaudit.ledger.store.postgres.link import Link

_lock = threading.Lock()
_open: dict[tuple[int, str], _Shared] = {}


class _Shared:
    """What the ledgers of one process share; ``users`` of it are left."""

    def __init__(self, address: Address) -> None:
        self.users = 0
        self.reading, self.writing = Link(address), Link(address)
        self.commits = CombinedCommits(self.writing)


class Connections:
    """One ledger's part in them."""

    def __init__(self, address: Address) -> None:
        """Raises UnreadableLedger and LedgerUnavailable where there is no such server."""
        self.where, self._key = address.shown, (os.getpid(), address.server)
        with _lock:
            if self._key not in _open:
                _open[self._key] = _Shared(address)
            self._shared: _Shared | None = _open[self._key]
            self._shared.users += 1
        self.reading, self.writing = self._shared.reading, self._shared.writing
        self.commits = self._shared.commits

    def renewals(self) -> tuple[int, int]:
        """Changes when a connection was lost: the server may have restarted, and forgotten what was not durable."""
        return self.reading.connected, self.writing.connected

    def release(self) -> None:
        """The last one closes them. Twice is fine."""
        with _lock:
            shared, self._shared = self._shared, None
            if shared is None:
                return
            shared.users -= 1
            if shared.users == 0 and _open.get(self._key) is shared:
                del _open[self._key]
        if shared.users == 0:
            shared.reading.close()
            shared.writing.close()
