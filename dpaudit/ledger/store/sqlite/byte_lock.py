"""Locks on one byte that belong to an open file, not to a process (OFD): two handles of one process exclude each other.

Closing another handle of the same file does not drop them, as it drops the locks of ``fcntl.lockf``. Linux on 64 bits has them.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from functools import cache

_COMMAND: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.maxsize > 2**32 else None


def try_byte(handle: int, byte: int) -> bool | None:
    """Lock it: True if it is ours now, False if somebody else has it, None where this system has no such locks."""
    if _COMMAND is None:
        return None
    try:
        fcntl.fcntl(handle, _COMMAND, _wanted(fcntl.F_WRLCK, byte))
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None  # this kernel does not know them
    return True


def free_byte(handle: int, byte: int) -> None:
    """Unlock what ``try_byte`` locked."""
    assert _COMMAND is not None
    fcntl.fcntl(handle, _COMMAND, _wanted(fcntl.F_UNLCK, byte))


@cache
def _wanted(kind: int, byte: int) -> bytes:
    """struct flock of 64-bit Linux: type, whence, start, length, process."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0)
