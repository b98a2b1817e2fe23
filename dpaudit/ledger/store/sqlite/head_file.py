"""The durable head: how many entries of a ledger were acknowledged, and their root, in a file of its own.

A write-ahead log that is cut, flipped or deleted takes entries along without a word, as SQLite reads a log up to the first frame
that does not fit. What it cannot take along is ``NAME.head``, so a ledger that holds less than its head says is refused.

Order of a write: entries are committed to the log; the log is synced; the head is written and synced; only then is anything
returned. So on disk the head is never ahead of the log, whenever the machine stops, and never behind what was acknowledged.
The file has two slots, each with its own check sum, in different sectors. The older one is overwritten, so that a write that the
machine did not finish leaves the head before it, which is right as nothing was acknowledged on the strength of the new one.

The file is also what processes queue for, in two rows. Whoever writes entries holds the file (``writing``); whoever makes them
durable and writes the head holds one byte of it (``syncing``). So entries are committed while another process waits for the disk,
and the next sync serves all of them together.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger
from dpaudit.ledger.store.sqlite.byte_lock import free_byte, try_byte

WAIT_SECONDS = 60.0  # for another process's turn, as long as for SQLite's own lock

_SLOT, _LENGTH = 4096, 160  # bytes: the distance of the slots, and what is used of each
_BYTE = 2**30 + 1  # nobody else locks it
_TRIES = 3  # of reading while somebody writes; each finds a whole slot unless two writes pass meanwhile
_FORM = re.compile(rb"dpaudit head 1\nsize (0|[1-9]\d{0,17})\nroot ([0-9a-f]{64})\ncheck ([0-9a-f]{32})\n *\Z")

_open: weakref.WeakSet[HeadFile] = weakref.WeakSet()


class Turn:
    """Only one process at a time, again and again. Raises LedgerUnavailable when another one keeps it too long.

    ``pause``: seconds until it is tried again, about as long as others usually keep it; it doubles up to 3 ms.
    """

    def __init__(self, path: Path, take: Callable[[], bool], free: Callable[[], object], pause: float) -> None:
        self._path, self._try, self._free, self._pause = path, take, free, pause

    def __enter__(self) -> None:
        if not self._try():
            self._wait()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._free()

    def _wait(self) -> None:
        pause, until = self._pause, time.monotonic() + WAIT_SECONDS
        while True:
            time.sleep(pause)
            if self._try():
                return
            if time.monotonic() > until:
                raise LedgerUnavailable(str(self._path), "another process holds it; try again")
            pause = min(2 * pause, 0.003)


class HeadFile:
    """A head that exists. ``write`` and what is decided by ``read`` before it belong inside ``syncing``."""

    def __init__(self, path: Path, readonly: bool) -> None:
        self.path = path
        self.handle = os.open(path, os.O_RDONLY if readonly else os.O_RDWR)
        self.writing = Turn(path, self._take, self._free, 0.0002)
        self.syncing = self.writing if readonly else self._sync_turn()
        self._known: dict[bytes, tuple[int, bytes]] = {}  # what this process wrote last
        _open.add(self)

    def read(self) -> tuple[int, bytes]:
        """(size, root). Raises TamperedLedger if neither slot is whole."""
        for _ in range(_TRIES):
            found = [slot for slot in self._slots() if slot is not None]
            if found:
                return max(found)
        raise TamperedLedger(str(self.path), "the head of the ledger is damaged; put back its copy")

    def write(self, size: int, root: bytes) -> None:
        """Put a newer head in the place of the older slot, durably."""
        first, second = self._slots()
        older = 0 if first is None or (second is not None and first < second) else _SLOT
        slot = _slot(size, root)
        os.pwrite(self.handle, slot, older)
        self._known = {slot: (size, root)}
        os.fdatasync(self.handle)

    def _slots(self) -> tuple[tuple[int, bytes] | None, tuple[int, bytes] | None]:
        data = os.pread(self.handle, _SLOT + _LENGTH, 0)
        return self._parsed(data[:_LENGTH]), self._parsed(data[_SLOT:])

    def _parsed(self, slot: bytes) -> tuple[int, bytes] | None:
        return self._known.get(slot) or _parse(slot)

    def _take(self) -> bool:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _free(self) -> None:
        fcntl.flock(self.handle, fcntl.LOCK_UN)

    def _sync_turn(self) -> Turn:
        """A row of its own; where single bytes cannot be locked so, the writers' row serves."""
        taken = try_byte(self.handle, _BYTE)
        if taken is None:
            return self.writing
        if taken:
            free_byte(self.handle, _BYTE)
        return Turn(self.path, lambda: bool(try_byte(self.handle, _BYTE)), partial(free_byte, self.handle, _BYTE), 0.001)

    def close(self) -> None:
        if self.handle >= 0:
            handle, self.handle = self.handle, -1
            os.close(handle)


def head_path(ledger: Path) -> Path:
    """Beside the file itself, whatever link led there."""
    ledger = ledger.resolve()
    return ledger.with_name(ledger.name + ".head")


def make_head_file(path: Path) -> None:
    """A head that says nothing yet, unless there is one: the first thing that is made of a ledger, whole or not at all."""
    draft, handle = new_draft(path)
    try:
        os.pwrite(handle, _slot(0, bytes(32)), 0)
        os.pwrite(handle, b" " * _LENGTH, _SLOT)
        os.fsync(handle)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        os.close(handle)
        draft.unlink()


def new_draft(path: Path) -> tuple[Path, int]:
    """A file beside ``path`` that gets its name when it is complete; with the permissions of any new file."""
    mask = os.umask(0o077)
    os.umask(mask)
    handle, draft = tempfile.mkstemp(prefix=path.name + ".", suffix=".new", dir=path.parent)
    os.fchmod(handle, 0o666 & ~mask)
    return Path(draft), handle


def _slot(size: int, root: bytes) -> bytes:
    text = b"dpaudit head 1\nsize %d\nroot %s\n" % (size, root.hex().encode())
    return (text + b"check %s\n" % sha256(text).hexdigest()[:32].encode()).ljust(_LENGTH)


@lru_cache(maxsize=64)  # most were read before
def _parse(slot: bytes) -> tuple[int, bytes] | None:
    found = _FORM.match(slot)
    if found is None or _slot(size := int(found[1]), root := bytes.fromhex(found[2].decode())) != slot:
        return None
    return size, root


def _forget() -> None:
    """A forked child must not keep its parent's turn when the parent is killed."""
    for each in list(_open):
        each.close()


os.register_at_fork(after_in_child=_forget)
