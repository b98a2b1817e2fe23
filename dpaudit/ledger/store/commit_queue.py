"""Combines what several threads ask of one ledger into one commit: whoever gets the lock does the work of all who wait.

A request either puts its entries or is refused before it puts any, so that requests in one transaction do not disturb each other.
If the transaction itself fails, all of them fail.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from dpaudit.claims.errors import FileError
from dpaudit.ledger.errors import LedgerUnavailable

Result = TypeVar("Result")
MOST = 512  # requests in one commit; half or twice that changes neither rate nor memory much


@dataclass
class Request:
    """What is to be done inside a transaction. ``durable``: its answer is handed out, so that the commit must be on disk."""

    work: Callable[[], Any]
    durable: bool
    done: bool = False
    result: Any = None
    error: BaseException | None = None

    def run(self, size: Callable[[], int]) -> None:
        """Do the work; a refusal is kept for whoever asked. Raises what is no refusal: entries were put already."""
        before, self.result, self.error = size(), None, None
        try:
            self.result = self.work()
        except Exception as error:
            if size() != before:
                raise
            self.error = error.with_traceback(None)


class CommitQueue:
    """Requests in the order of asking. ``commit`` does some of them, in one transaction, and is called under ``lock``."""

    def __init__(self, lock: Any, commit: Callable[[list[Request]], None]) -> None:
        self._lock, self._commit = lock, commit
        self._waiting: deque[Request] = deque()
        self.commits = self.requests = 0  # how many requests one commit carries, on average

    def submit(self, work: Callable[[], Result], durable: bool = True) -> Result:
        """The work's result, committed. Raises what it raised, or why nothing could be committed."""
        request = Request(work, durable)
        self._waiting.append(request)
        with self._lock:
            while not request.done:
                self._commit_some()
        if request.error is not None:
            raise request.error
        return cast(Result, request.result)

    def _commit_some(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
        self.commits, self.requests = self.commits + 1, self.requests + len(batch)
        failure: BaseException | None = None
        try:
            self._commit(batch)
        except BaseException as error:
            failure = error
            if not isinstance(error, Exception):
                raise
        finally:
            for request in batch:
                if request.error is None and (failure is not None or not request.done):
                    request.error = _same_for_another(failure)
                request.done = True


def _same_for_another(failure: BaseException | None) -> BaseException:
    """Each thread raises an error of its own: one raised by two would show the frames of both."""
    if isinstance(failure, FileError):
        return type(failure)(failure.path, failure.reason)
    return failure or LedgerUnavailable("the ledger", "the process was interrupted; nothing was granted, try again")
