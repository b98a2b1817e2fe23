"""What a subject writes while it is audited: kept apart from the audit's own output, and compared between data sets.

Seen, when it is recorded: stdout, stderr, log records of every level, warnings, ``os.write``, files that ``open`` opens for
writing (their names too), what sockets send, and the arguments of other programs. Not seen: files opened by ``os.open`` or in C,
encrypted sockets, shared memory. Behind ``subject.deploy`` none of these can show more than ``<sealed private data>``.
"""

from __future__ import annotations

import builtins
import io
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

STDOUT, STDERR, LOG, WARNING, FILE, SOCKET, PROGRAM = (
    "stdout", "stderr", "a log", "a warning", "a file", "a socket", "another program",
)  # fmt: skip
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")  # where an object lies in memory


@dataclass(eq=False)
class OutputLog:
    """What was written, by the way it took. ``keeps``: the text itself, not only how much of it there is.

    Threads that were there before are nobody's business: what they write goes where it went.
    """

    keeps: bool = False
    written: int = 0  # characters
    texts: dict[str, list[str]] = field(default_factory=dict)
    others: frozenset[threading.Thread] = field(default_factory=lambda: _other_threads())

    def add(self, way: str, text: str) -> None:
        self.written += len(text)
        if self.keeps:
            self.texts.setdefault(way, []).append(text)

    def text(self, way: str) -> str:
        """All that was written that way, however it was cut into pieces."""
        return _ADDRESS.sub("0x", "".join(self.texts.get(way, ())))

    @property
    def mine(self) -> bool:
        return threading.current_thread() not in self.others


def difference(one: OutputLog, other: OutputLog) -> list[str]:
    """The ways on which the two differ."""
    return [way for way in {**one.texts, **other.texts} if one.text(way) != other.text(way)]


_log: ContextVar[OutputLog | None] = ContextVar("what a subject writes", default=None)


@contextmanager
def counting_output() -> Iterator[OutputLog]:
    """While subjects run inside, what they print is counted and shown to nobody."""
    with _logging_to(OutputLog()) as log:
        yield log


@contextmanager
def recording_output() -> Iterator[OutputLog]:
    """The same, and every other way that is watched, with all that is written."""
    with _logging_to(OutputLog(keeps=True)) as log, ExitStack() as patches:
        for holder, name, made in _notices(log):
            patches.enter_context(_put(holder, name, made(getattr(holder, name))))
        patches.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always")
        patches.enter_context(np.errstate(all="ignore"))  # sealed data warns of nothing
        yield log


@contextmanager
def diverted_output() -> Iterator[None]:
    """Around one call of a subject's function: its prints and warnings go to the log, if there is one."""
    log = _log.get()
    if log is None:
        yield
        return
    before = sys.stdout, sys.stderr, warnings.showwarning
    sys.stdout, sys.stderr = _Stream(log, STDOUT, before[0]), _Stream(log, STDERR, before[1])
    warnings.showwarning = _warning(log, before[2])
    try:
        yield
    finally:
        sys.stdout, sys.stderr, warnings.showwarning = before


@contextmanager
def _logging_to(log: OutputLog) -> Iterator[OutputLog]:
    token = _log.set(log)
    try:
        yield log
    finally:
        _log.reset(token)


class _Stream(io.TextIOBase):
    """Stands for stdout or stderr while a subject runs."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, log: OutputLog, way: str, original: Any) -> None:
        self._log, self._way, self._original = log, way, original

    def write(self, text: str) -> int:
        if not self._log.mine:
            return int(self._original.write(text))
        self._log.add(self._way, text)
        return len(text)

    @property
    def buffer(self) -> Any:
        return _Bytes(self)

    def fileno(self) -> int:
        return int(self._original.fileno())

    def writable(self) -> bool:
        return True


class _Bytes(io.RawIOBase):
    """Its binary face."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        self._stream.write(_shown(data))
        return len(data)

    def writable(self) -> bool:
        return True


class _File:
    """A file that is open for writing: does all that the file does, and tells what is written."""

    def __init__(self, file: Any, log: OutputLog) -> None:
        self._file, self._log = file, log

    def write(self, data: Any) -> Any:
        self._log.add(FILE, _shown(data))
        return self._file.write(data)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __enter__(self) -> _File:
        self._file.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._file.__exit__(*error)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


Call = Callable[..., Any]


def _notices(log: OutputLog) -> list[tuple[Any, str, Callable[[Call], Call]]]:
    """What stands in the place of each way out while it is recorded."""
    sends = ("connect", "send", "sendall", "sendto")
    return [
        (builtins, "open", partial(_opening, log)),
        (io, "open", partial(_opening, log)),
        (os, "write", partial(_writing, log)),
        (os, "system", partial(_noting, log, PROGRAM)),
        (subprocess.Popen, "__init__", partial(_noting, log, PROGRAM)),
        *((socket.socket, name, partial(_noting, log, SOCKET)) for name in sends),
        (logging.Logger, "handle", partial(_handling, log)),
        (logging.Logger, "isEnabledFor", partial(_enabling, log)),
    ]


def _opening(log: OutputLog, original: Call) -> Call:
    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        made = original(file, mode, *args, **kwargs)
        if not log.mine or not set(mode) & set("wax+"):
            return made
        log.add(FILE, f"{file} {mode}\n")
        return _File(made, log)

    return opened


def _writing(log: OutputLog, original: Call) -> Call:
    def write(descriptor: int, data: Any) -> int:
        if not log.mine:
            return int(original(descriptor, data))
        log.add({1: STDOUT, 2: STDERR}.get(descriptor, FILE), _shown(data))
        return len(data) if descriptor in (1, 2) else int(original(descriptor, data))

    return write


def _noting(log: OutputLog, way: str, original: Call) -> Call:
    def call(*args: Any, **kwargs: Any) -> Any:
        if log.mine:
            parts = (part for part in (*args, *kwargs.values()) if not isinstance(part, socket.socket | subprocess.Popen))
            log.add(way, " ".join(_shown(part) for part in parts))
        return original(*args, **kwargs)

    return call


def _warning(log: OutputLog, original: Call) -> Call:
    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if log.mine:
            log.add(WARNING, f"{category.__name__}: {message}\n")
        else:
            original(message, category, *place, **more)

    return show


def _handling(log: OutputLog, original: Call) -> Call:
    def handle(logger: logging.Logger, record: logging.LogRecord) -> None:
        if not log.mine:
            original(logger, record)
            return
        error = record.exc_info[1] if record.exc_info else None
        log.add(LOG, f"{record.name} {record.levelname} {record.getMessage()} {error!r}\n")

    return handle


def _enabling(log: OutputLog, original: Call) -> Call:
    """Which levels are shown is up to whoever deploys the subject."""
    return lambda logger, level: log.mine or original(logger, level)


def _shown(data: Any) -> str:
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data).decode("utf-8", "backslashreplace")
    return str(data)


@contextmanager
def _put(holder: Any, name: str, value: Any) -> Iterator[None]:
    own = name in vars(holder)
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        if own:
            setattr(holder, name, before)
        else:
            delattr(holder, name)


def _other_threads() -> frozenset[threading.Thread]:
    return frozenset(threading.enumerate()) - {threading.current_thread()}
