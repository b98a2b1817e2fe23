"""Chunks of runs on all cores, or on a scheduler's workers. Chunk k is a function of its task, its number and its size alone,
so the results are the same whoever computes them, and in which order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from dpaudit.auditors.runs.time_over import TimeOver
from dpaudit.claims import DpauditError

MEASURE = 0.1  # seconds of work after which the rest is estimated …
WORTH = 0.5  # … and seconds of it for which starting processes pays


class Milestone(str):
    """Progress that stays true: a stage that has ended, and what is known by then."""


class Task(Protocol):
    """What every chunk of one part of an audit shares."""

    def repeatable(self) -> bool:
        """Does the same chunk give the same result twice? Only such chunks may leave this process: a generator that the
        subject keeps for itself would be copied, and give every worker the same noise."""
        ...


Work = Callable[[Any, int, int], Any]  # (task, number, size) → result


class Remote(Protocol):
    """Workers elsewhere."""

    def map(self, work: Work, task: Task, sizes: Sequence[int]) -> Iterator[Any]:
        """Results in their order."""
        ...


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split(total: int, largest: int) -> list[int]:
    """Sizes of the chunks of ``total`` runs."""
    return [largest] * (total // largest) + ([total % largest] if total % largest else [])


@dataclass(frozen=True)
class Engine:
    """Who computes chunks: this process, as many as ``workers``, or a scheduler's. Never changes what they are."""

    workers: int | None = None  # None: one for each core
    remote: Remote | None = None
    tell: Callable[[str], None] = lambda _: None  # live progress, for a person
    deadline: float | None = None  # of the monotonic clock

    @property
    def late(self) -> bool:
        """Is the time over?"""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def map(self, work: Work, task: Task, sizes: Sequence[int]) -> Generator[Any, None, None]:
        """``work(task, k, sizes[k])`` for every k, in their order, computed a little ahead of who reads them. Raises TimeOver
        between two of them."""
        with closing(self._chunks(work, task, sizes)) as chunks:
            for number, result in enumerate(chunks):
                yield result
                if self.late and number + 1 < len(sizes):
                    raise TimeOver

    def _chunks(self, work: Work, task: Task, sizes: Sequence[int]) -> Generator[Any, None, None]:
        if self.remote is not None and sizes and task.repeatable():
            yield from self.remote.map(work, task, sizes)
            return
        workers = self.workers or cores()
        may_fork, total, done, spent = workers > 1 and _can_fork(), sum(sizes), 0, 0.0
        for number, size in enumerate(sizes):
            if may_fork and spent > MEASURE and spent / done * (total - done) > WORTH and number + 1 < len(sizes):
                if task.repeatable():
                    yield from _forked(work, task, list(enumerate(sizes))[number:], workers)
                    return
                may_fork = False
            started = time.perf_counter()
            result = work(task, number, size)
            spent, done = spent + time.perf_counter() - started, done + size
            yield result


HERE = Engine()


def _can_fork() -> bool:
    """Subjects are closures as often as not; only a fork takes those along. Elsewhere everything stays in this process."""
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


_inherited: tuple[Work, Task] | None = None


class _Failed:
    """A chunk that raised in a worker; it is computed again here, where the error can be seen as it is."""


def _start(work: Work, task: Task) -> None:
    global _inherited
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    _inherited = work, task


def _one(number: int, size: int) -> Any:
    assert _inherited is not None
    work, task = _inherited
    try:
        return work(task, number, size)
    except Exception:
        return _Failed()


def _forked(work: Work, task: Task, chunks: Sequence[tuple[int, int]], workers: int) -> Iterator[Any]:
    pool = ProcessPoolExecutor(
        min(workers, len(chunks)), multiprocessing.get_context("fork"), initializer=_start, initargs=(work, task)
    )
    ahead: deque[tuple[int, int, Future[Any]]] = deque()
    finished = False
    try:
        for number, size in chunks:
            ahead.append((number, size, pool.submit(_one, number, size)))
            if len(ahead) > 2 * workers:
                yield _result(work, task, *ahead.popleft())
        while ahead:
            yield _result(work, task, *ahead.popleft())
        finished = True
    finally:
        running = list((pool._processes or {}).values())
        pool.shutdown(wait=finished, cancel_futures=True)
        if not finished:
            for process in running:
                process.terminate()


def _result(work: Work, task: Task, number: int, size: int, future: Future[Any]) -> Any:
    try:
        result = future.result()
    except BrokenProcessPool:
        raise DpauditError("a worker process died (killed, or out of memory); --workers 1 keeps to one process") from None
    return work(task, number, size) if isinstance(result, _Failed) else result
