"""Chunks on the workers of a dask.distributed scheduler. Needs ``pip install dpaudit[scheduler]``.

Whoever runs the scheduler can run code on every machine of it, this one included: use one that you trust.
"""

from __future__ import annotations

import logging
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
    """Its workers compute chunks, a few ahead of who reads them. What a lost worker had is computed by another one."""

    def __init__(self, address: str, client: Any) -> None:
        self.address, self.client = address, client

    def map(self, work: Work, task: Task, sizes: Sequence[int]) -> Iterator[Any]:
        """``work(task, k, sizes[k])`` for every k, in their order."""
        _take_along(task)
        shared = self.client.scatter(task, hash=False, broadcast=True)
        chunks = ((shared, number, size) for number, size in enumerate(sizes))
        yield from self._ahead(work, chunks, lambda _, number, size: work(task, number, size))

    def each(self, work: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
        """``work`` of all arguments, in their order; they are read a few at a time."""
        yield from self._ahead(work, arguments, work)

    def _ahead(self, work: Callable[..., Any], arguments: Iterator[tuple[Any, ...]], here: Callable[..., Any]) -> Iterator[Any]:
        window = 2 * sum(self.client.ncores().values()) + 1
        ahead: deque[tuple[tuple[Any, ...], Any]] = deque()
        try:
            for one in arguments:
                ahead.append((one, self.client.submit(work, *one, pure=False)))
                if len(ahead) > window:
                    yield self._result(here, *ahead.popleft())
            while ahead:
                yield self._result(here, *ahead.popleft())
        finally:
            for _, future in ahead:
                future.cancel()

    def _result(self, here: Callable[..., Any], arguments: tuple[Any, ...], future: Any) -> Any:
        """Raises NoScheduler once nobody has been there to compute it for a while."""
        from distributed import KilledWorker

        empty = 0
        while empty < 2:  # a worker that ended may be started again within seconds
            try:
                return future.result(timeout=TIMEOUT)
            except TimeoutError:
                if future.done():
                    return here(*arguments)
                empty = 0 if self._has_workers() else empty + 1
            except (OSError, KilledWorker) as error:
                raise NoScheduler(self.address, f"lost a worker or the connection ({type(error).__name__})") from None
            except Exception:
                return here(*arguments)  # again here, where the error can be seen as it is
        raise NoScheduler(self.address, "has no workers left; nothing was concluded")

    def _has_workers(self) -> bool:
        try:
            return bool(self.client.ncores())
        except Exception as error:  # of dask's own, or of the network
            raise NoScheduler(self.address, f"lost the connection ({type(error).__name__})") from None


def _take_along(task: Task) -> None:
    """A subject from a file is in a module that workers do not have: its code travels with it."""
    import cloudpickle

    subject = getattr(task, "subject", None) or getattr(getattr(task, "trials", None), "subject", None)
    name = getattr(getattr(subject, "function", None), "__module__", None)
    module = sys.modules.get(name) if name else None
    if module is not None and name and name.startswith("dpaudit_target_"):
        cloudpickle.register_pickle_by_value(module)
