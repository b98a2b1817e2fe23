"""Chunks on the workers of a dask.distributed scheduler. Needs ``pip install dpaudit[scheduler]``.

Whoever runs the scheduler can run code on every machine of it, this one included: use one that you trust.
"""

from __future__ import annotations

import logging
import socket
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from dpaudit.auditors.runs.engine import Task, Work
from dpaudit.claims import DpauditError

TIMEOUT = 5  # seconds to reach it


class NoScheduler(DpauditError):
    """A scheduler that cannot be used. Keeps its address."""

    def __init__(self, address: str, reason: str) -> None:
        self.address = address
        super().__init__(f"scheduler {address}: {reason}")


@contextmanager
def connected(address: str) -> Iterator[Scheduled]:
    """The scheduler at this address, or NoScheduler within a few seconds."""
    try:
        from distributed import Client
    except ImportError:
        raise NoScheduler(address, "dask.distributed is not installed; pip install dpaudit[scheduler]") from None
    _knock(address)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise NoScheduler(address, f"does not answer as a scheduler ({type(error).__name__})") from None
    try:
        if not client.ncores():
            raise NoScheduler(address, "has no workers")
        yield Scheduled(address, client)
    finally:
        client.close(timeout=TIMEOUT)


def _knock(address: str) -> None:
    """Is anybody there? A client would try for longer than a person waits."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except (ValueError, AttributeError, TypeError):
        host = port = None
    if not host or not port:
        raise NoScheduler(str(address), "is no address such as tcp://host:8786")
    try:
        socket.create_connection((host, port), timeout=TIMEOUT).close()
    except OSError as error:
        raise NoScheduler(address, f"cannot be reached ({error.strerror or type(error).__name__})") from None


class Scheduled:
    """Its workers compute chunks, a few ahead of who reads them."""

    def __init__(self, address: str, client: Any) -> None:
        self.address, self.client = address, client

    def map(self, work: Work, task: Task, sizes: Sequence[int]) -> Iterator[Any]:
        _take_along(task)
        shared = self.client.scatter(task, hash=False, broadcast=True)
        window = 2 * sum(self.client.ncores().values()) + 1
        ahead: deque[tuple[int, int, Any]] = deque()
        try:
            for number, size in enumerate(sizes):
                ahead.append((number, size, self.client.submit(work, shared, number, size, pure=False)))
                if len(ahead) > window:
                    yield self._result(work, task, *ahead.popleft())
            while ahead:
                yield self._result(work, task, *ahead.popleft())
        finally:
            for _, _, future in ahead:
                future.cancel()

    def _result(self, work: Work, task: Task, number: int, size: int, future: Any) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except (OSError, KilledWorker) as error:
            raise NoScheduler(self.address, f"lost a worker or the connection ({type(error).__name__})") from None
        except Exception:
            return work(task, number, size)  # again here, where the error can be seen as it is


def _take_along(task: Task) -> None:
    """A subject from a file is in a module that workers do not have: its code travels with it."""
    import cloudpickle

    subject = getattr(task, "subject", None) or getattr(getattr(task, "trials", None), "subject", None)
    name = getattr(getattr(subject, "function", None), "__module__", None)
    module = sys.modules.get(name) if name else None
    if module is not None and name and name.startswith("dpaudit_target_"):
        cloudpickle.register_pickle_by_value(module)
