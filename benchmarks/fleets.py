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
    """Acknowledged keys; commits of all processes, and requests in them; seconds from the first to the last.

    ``cpu``: seconds of it that the clients took; ``server``: the server, where it was measured.
    """

    acknowledged: list[str]
    commits: int
    requests: int
    seconds: float
    cpu: float
    server: float

    @property
    def rate(self) -> float:
        return len(self.acknowledged) / self.seconds

    @property
    def batch(self) -> float:
        return self.requests / max(self.commits, 1)


def spend(
    addresses: list[str],
    clients: int,
    attempts: int,
    disturb: Callable[[], None] | None = None,
    meter: Callable[[], float] = lambda: 0.0,
) -> Fleet:
    """``clients`` threads, ``attempts`` keyed charges of 1 each, over these ledgers in turn.

    ``disturb`` runs meanwhile; ``meter`` reads the server's CPU.
    """
    spawn = multiprocessing.get_context("spawn")
    processes = max(1, clients // THREADS)
    ready = spawn.Barrier(processes + 1)
    with spawn.Pool(processes, initializer=_arm, initargs=(ready,)) as pool:
        tasks = [(addresses, number, min(clients, THREADS), attempts) for number in range(processes)]
        pending = pool.map_async(_client, tasks, chunksize=1)
        ready.wait()
        before = meter()
        if disturb is not None:
            disturb()
        done = pending.get(timeout=120)
        server = meter() - before
    first, last = min(each[3] for each in done), max(each[4] for each in done)
    keys = [key for each in done for key in each[0]]
    commits, requests, cpu = (sum(each[place] for each in done) for place in (1, 2, 5))
    return Fleet(keys, commits, requests, last - first, cpu, server)


_ready: Any = None


def _arm(ready: Any) -> None:
    global _ready
    _ready = ready


def _client(task: tuple[list[str], int, int, int]) -> tuple[list[str], int, int, float, float, float]:
    addresses, number, threads, attempts = task
    ledgers = [open_ledger(address) for address in addresses]
    queues = list({id(ledger._commits): ledger._commits for ledger in ledgers}.values())
    before = [(queue.commits, queue.requests) for queue in queues]
    acknowledged: list[str] = []
    _ready.wait()
    started, cpu = time.time(), time.process_time()

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
    ended, cpu = time.time(), time.process_time() - cpu
    commits = sum(queue.commits - old for queue, (old, _) in zip(queues, before, strict=True))
    requests = sum(queue.requests - old for queue, (_, old) in zip(queues, before, strict=True))
    for ledger in ledgers:
        ledger.close()
    return acknowledged, commits, requests, started, ended, cpu


def _release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), values=7)


def naive(address: str) -> int:
    """The twin: two handles that look first and charge then, on a ledger without a budget, grant twice."""
    with open_ledger(address) as one, open_ledger(address) as two:
        allowed = [ledger for ledger in (one, two) if ledger.spent()[0] < 1]
        for ledger in allowed:
            ledger.charge(Charge(Fraction(1)))
        return len(allowed)
