"""The durable head: how many entries of a ledger were acknowledged, and their root, in a file of its own.

A write-ahead log that is cut, flipped or deleted takes entries along without a word, as SQLite reads a log up to the first frame
that does not fit. What it cannot take along is ``NAME.head``, so a ledger that holds less than its head says is refused.

Order of a write: entries are committed to the log; the log is synced; the head is written and synced; only then is anything
returned. So on disk the head is never ahead of the log, whenever the machine stops, and never behind what was acknowledged.
The file has two slots, each with its own check sum, in different sectors. The older one is overwritten, so that a write that the
machine did not finish leaves the head before it, which is right as nothing was acknowledged on the strength of the new one.

The file is also what writers queue for (``turn``): whoever writes entries or the head holds its lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger

WAIT_SECONDS = 60.0  # for another process's turn, as long as for SQLite's own lock

_SLOT, _LENGTH = 4096, 160  # bytes: the distance of the slots, and what is used of each
_TRIES = 3  # of reading while somebody writes; each finds a whole slot unless two writes pass meanwhile
_FORM = re.compile(rb"dpaudit head 1\nsize (0|[1-9]\d{0,17})\nroot ([0-9a-f]{64})\ncheck ([0-9a-f]{32})\n *\Z")

_open: weakref.WeakSet[HeadFile] = weakref.WeakSet()


class HeadFile:
    """A head that exists. ``write`` and what is decided by ``read`` before it belong inside ``turn``."""

    def __init__(self, path: Path, readonly: bool) -> None:
        self.path = path
        self.handle = os.open(path, os.O_RDONLY if readonly else os.O_RDWR)
        _open.add(self)

    def read(self) -> tuple[int, bytes]:
        """(size, root). Raises TamperedLedger if neither slot is whole."""
        for _ in range(_TRIES):
            data = os.pread(self.handle, _SLOT + _LENGTH, 0)
            found = [slot for slot in (_parse(data[:_LENGTH]), _parse(data[_SLOT:])) if slot is not None]
            if found:
                return max(found)
        raise TamperedLedger(str(self.path), "the head of the ledger is damaged; put back its copy")

    def write(self, size: int, root: bytes) -> None:
        """Put a newer head in the place of the older slot, durably."""
        first = _parse(os.pread(self.handle, _LENGTH, 0))
        second = _parse(os.pread(self.handle, _LENGTH, _SLOT))
        older = 0 if first is None or (second is not None and first < second) else _SLOT
        os.pwrite(self.handle, _slot(size, root), older)
        os.fdatasync(self.handle)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Only one process at a time. Raises LedgerUnavailable when another one keeps it too long."""
        self._take()
        try:
            yield
        finally:
            fcntl.flock(self.handle, fcntl.LOCK_UN)

    def _take(self) -> None:
        pause, until = 0.0002, time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise LedgerUnavailable(str(self.path), "another process holds it; try again") from None
            time.sleep(pause)
            pause = min(2 * pause, 0.003)

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
