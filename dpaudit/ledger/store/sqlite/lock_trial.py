"""Tries the locks of a file system before a budget is entrusted to them: some say yes to everybody.

SQLite excludes other processes by ranges (``fcntl``), dpaudit's own queue by whole files (``flock``). A second handle of the same
process stands for the other process: a lock of the open file (OFD) excludes a lock of the process, as another process would.
Where these are not known, a child process tries. Locks that work on one host and not between hosts cannot be told from here;
several hosts share a ledger through ``postgresql://``.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable
from dpaudit.ledger.store.sqlite.byte_lock import free_byte, try_byte

_BYTE = 2**30  # a byte that nobody else locks
_CHILD = """
import fcntl, os, sys
try:
    fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(sys.argv[2]))
except OSError:
    sys.exit(7)
"""


def refuse_idle_locks(path: Path) -> None:
    """Raise LedgerUnavailable unless a lock on this file keeps others out. The file must not be one that SQLite holds."""
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    try:
        if not (_files_exclude(first, second) and _ranges_exclude(first, second, path)):
            reason = "the locks of its file system do nothing, so that several processes would overspend; put it on another disk"
            raise LedgerUnavailable(str(path), reason)
    finally:
        os.close(first)
        os.close(second)


def _files_exclude(first: int, second: int) -> bool:
    try:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True  # another process is writing, and kept us out
    try:
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        fcntl.flock(second, fcntl.LOCK_UN)
        return False
    finally:
        fcntl.flock(first, fcntl.LOCK_UN)


def _ranges_exclude(first: int, second: int, path: Path) -> bool:
    try:
        fcntl.lockf(first, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _BYTE)
    except (BlockingIOError, PermissionError):
        return True  # another process tries just now
    try:
        return _kept_out(second, path)
    finally:
        fcntl.lockf(first, fcntl.LOCK_UN, 1, _BYTE)


def _kept_out(second: int, path: Path) -> bool:
    taken = try_byte(second, _BYTE)
    if taken:
        free_byte(second, _BYTE)
    if taken is not None:
        return not taken
    child = [sys.executable, "-I", "-c", _CHILD, str(path), str(_BYTE)]
    return subprocess.run(child, check=False).returncode == 7
