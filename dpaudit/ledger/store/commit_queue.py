"""Combines what several threads ask of one ledger into one commit: one thread leads and does the work of all who wait.

A request either puts its entries or is refused before it puts any, so that requests in one transaction do not disturb each other.
If the transaction itself fails, all of them fail.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from dpaudit.claims.errors import FileError
from dpaudit.ledger.errors import LedgerUnavailable

Result = TypeVar("Result")
MOST = 512  # requests in one commit; half or twice that changes neither rate nor memory much


@dataclass(slots=True)
class Request:
    """What is to be done inside a transaction. ``durable``: its answer is handed out, so that the commit must be on disk."""

    work: Callable[[], Any]
    durable: bool
    owner: Any = None  # of whose entries, where several ledgers share a queue
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
    """Requests in the order of asking. ``commit`` does some of them in one transaction; it is called by one thread at a time.

    Who waits is woken when its request is done: one who had to take a lock first could be overtaken for ever by a busy leader.
    ``linger``: seconds that a leader waits for as many requests as there were together last time. Those that are answered
    together ask again together, and a leader who does not wait commits for itself alone, then for all others.
    """

    def __init__(self, commit: Callable[[list[Request]], None], linger: float = 0.0) -> None:
        self._commit, self._linger = commit, linger
        self._waiting: deque[Request] = deque()
        self._changed = threading.Condition()
        self._arrived = threading.Condition(self._changed._lock)  # type: ignore[attr-defined]
        self._led = False  # is somebody committing?
        self._together = 1  # requests of the last commit, and those that waited for its end
        self.commits = self.requests = 0  # how many requests one commit carries, on average

    def submit(self, work: Callable[[], Result], durable: bool = True, owner: Any = None) -> Result:
        """The work's result, committed. Raises what it raised, or why nothing could be committed."""
        request = Request(work, durable, owner)
        with self._changed:
            alone = not self._led and not self._waiting and not self._linger
            if alone:
                self._led = True
            else:
                self._waiting.append(request)
                if len(self._waiting) >= self._together:
                    self._arrived.notify()
        if alone:
            self._lead([request])
        while not request.done:
            with self._changed:
                while self._led and not request.done:
                    self._changed.wait()
                if request.done:
                    break
                self._led = True
                if self._linger and len(self._waiting) < self._together:
                    self._arrived.wait_for(lambda: len(self._waiting) >= self._together, self._linger)
                batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            self._lead(batch)
        if request.error is not None:
            raise request.error
        return cast(Result, request.result)

    def _lead(self, batch: list[Request]) -> None:
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
                if request.error is None and not request.done:
                    request.error = error_for_another(failure)
                request.done = True
            with self._changed:
                self._led, self._together = False, min(len(batch) + len(self._waiting), MOST)
                if self._waiting or len(batch) > 1:
                    self._changed.notify_all()


def error_for_another(failure: BaseException | None) -> BaseException:
    """Each thread raises an error of its own: one raised by two would show the frames of both."""
    if isinstance(failure, FileError):
        return type(failure)(failure.path, failure.reason)
    return failure or LedgerUnavailable("the ledger", "the process was interrupted; nothing was granted, try again")
