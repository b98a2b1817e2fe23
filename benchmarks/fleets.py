"""A fleet on one budget in PostgreSQL: processes with several threads each, while the server is killed or connections cut."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Charge, Release, open_ledger

THREADS = 8  # of one process: its requests are combined into one commit


@dataclass(frozen=True)
class Fleet:
    """Acknowledged keys; commits of all processes, and requests in them; seconds from the first to the last."""

    acknowledged: list[str]
    commits: int
    requests: int
    seconds: float

    @property
    def rate(self) -> float:
        return len(self.acknowledged) / self.seconds

    @property
    def batch(self) -> float:
        return self.requests / max(self.commits, 1)


def spend(addresses: list[str], clients: int, attempts: int, disturb: Callable[[], None] | None = None) -> Fleet:
    """``clients`` threads, ``attempts`` keyed charges of 1 each, over these ledgers in turn; ``disturb`` runs meanwhile."""
    spawn = multiprocessing.get_context("spawn")
    processes = max(1, clients // THREADS)
    ready = spawn.Barrier(processes + 1)
    with spawn.Pool(processes, initializer=_arm, initargs=(ready,)) as pool:
        tasks = [(addresses, number, min(clients, THREADS), attempts) for number in range(processes)]
        pending = pool.map_async(_client, tasks, chunksize=1)
        ready.wait()
        if disturb is not None:
            disturb()
        done = pending.get(timeout=120)
    first, last = min(each[3] for each in done), max(each[4] for each in done)
    keys = [key for each in done for key in each[0]]
    return Fleet(keys, sum(each[1] for each in done), sum(each[2] for each in done), last - first)


_ready: Any = None


def _arm(ready: Any) -> None:
    global _ready
    _ready = ready


def _client(task: tuple[list[str], int, int, int]) -> tuple[list[str], int, int, float, float]:
    addresses, number, threads, attempts = task
    ledgers = [open_ledger(address) for address in addresses]
    before = [(ledger._commits.commits, ledger._commits.requests) for ledger in ledgers]
    acknowledged: list[str] = []
    _ready.wait()
    started = time.time()

    def work(thread: int) -> None:
        for attempt in range(attempts):
            ledger, key = ledgers[(thread + attempt) % len(ledgers)], f"{number}-{thread}-{attempt}"
            try:
                ledger.append(_release(key), key=key)
                acknowledged.append(key)
            except BudgetExceeded:
                continue

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    ended = time.time()
    commits = sum(ledger._commits.commits - old for ledger, (old, _) in zip(ledgers, before, strict=True))
    requests = sum(ledger._commits.requests - old for ledger, (_, old) in zip(ledgers, before, strict=True))
    for ledger in ledgers:
        ledger.close()
    return acknowledged, commits, requests, started, ended


def _release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), values=7)


def naive(address: str) -> int:
    """The twin: two handles that look first and charge then, on a ledger without a budget, grant twice."""
    with open_ledger(address) as one, open_ledger(address) as two:
        allowed = [ledger for ledger in (one, two) if ledger.spent()[0] < 1]
        for ledger in allowed:
            ledger.charge(Charge(Fraction(1)))
        return len(allowed)
