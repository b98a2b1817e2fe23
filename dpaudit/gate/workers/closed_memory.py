"""Keeps processes that a subject starts out of the memory and the open files of the gate, where Linux can. Elsewhere nothing."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_GET_DUMPABLE, _SET_DUMPABLE, _DROP_FROM_BOUNDING_SET = 3, 4, 24  # of prctl(2)
_PTRACE = 19  # the capability that looks into every process, as root has it
_VERSION = 0x20080522  # of capset(2): two words for each set


@contextmanager
def closed_memory() -> Iterator[None]:
    """Meanwhile, only a process with the capability to trace may read this one's memory or open its files."""
    library = _library()
    before = -1 if library is None else library.prctl(_GET_DUMPABLE, 0, 0, 0, 0)
    if library is not None:
        library.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    try:
        yield
    finally:
        if library is not None and before in (0, 1):
            library.prctl(_SET_DUMPABLE, before, 0, 0, 0)


def close_for_good() -> None:
    """The same for the rest of this process; what it starts cannot trace either, also as root."""
    library = _library()
    if library is None:
        return
    library.prctl(_DROP_FROM_BOUNDING_SET, _PTRACE, 0, 0, 0)  # refused to whoever is not root, who has no such right to lose
    header, sets = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    if library.capget(header, sets) == 0:
        for place in range(3):
            sets[place] &= ~(1 << _PTRACE) & 0xFFFFFFFF
        library.capset(header, sets)
    library.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _library() -> ctypes.CDLL | None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None, use_errno=True)
            _ = library.prctl, library.capget, library.capset
            return library
    return None
