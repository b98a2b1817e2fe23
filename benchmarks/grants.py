"""What a release costs at the door beside bare SQLite, what processes get together, and what a fleet gets from PostgreSQL.

Figures by the clock are ratios within one run where they can be, and depend on the disk otherwise.
"""

from __future__ import annotations

import glob
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dpaudit as dp
from benchmarks.faults import race
from benchmarks.figures import Figure, Figures
from benchmarks.fleets import Fleet, spend
from benchmarks.postgres_server import Server
from dpaudit.ledger import open_ledger

RELEASES = 200
PROCESSES, CLIENTS, BUDGETS = 16, 32, 100


def grants() -> Figures:
    with tempfile.TemporaryDirectory(dir=".") as folder:  # beside the code: a real disk, where /tmp may be memory
        yield from _one_process(Path(folder))
        yield from _processes(Path(folder))
    if glob.glob("/usr/lib/postgresql/*/bin/initdb"):
        yield from _fleets()


def _one_process(folder: Path) -> Figures:
    door, door_time = _timed(_through_the_door(folder))
    bare, bare_time = _timed(_bare(folder))
    name = "CPU of a release, in CPU of two full commits of bare SQLite"
    told = f"{door / bare:.1f} ({1000 * door:.2f} ms, {1000 * bare:.2f} ms)"
    yield Figure(name, "≤ 2", told, door <= 2 * bare)
    yield Figure("… time of a release, in time of the same", "", f"{door_time / bare_time:.2f} ({1000 * door_time:.1f} ms)")


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """(CPU seconds, seconds) of one."""
    work()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(RELEASES):
        work()
    return (time.process_time() - cpu) / RELEASES, (time.perf_counter() - wall) / RELEASES


def _through_the_door(folder: Path) -> Callable[[], None]:
    ledger = open_ledger(folder / "door.ledger")
    channel = dp.live(ledger, budget="100000").__enter__()
    return lambda: channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)


def _bare(folder: Path) -> Callable[[], None]:
    connection = sqlite3.connect(folder / "bare", isolation_level=None)
    for statement in (
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "CREATE TABLE e (p INTEGER PRIMARY KEY, t TEXT) STRICT",
    ):
        connection.execute(statement)

    def work() -> None:
        for _ in range(2):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO e (t) VALUES (?)", ("x" * 350,))
            connection.execute("COMMIT")

    return work


def _processes(folder: Path) -> Figures:
    alone = race(folder, 1, RELEASES, RELEASES)
    together = race(folder, PROCESSES, 4 * RELEASES // PROCESSES, 4 * RELEASES)
    rates = together.granted / together.granting, alone.granted / alone.granting
    told = f"{rates[0]:.0f} (one alone: {rates[1]:.0f})"
    yield Figure(f"grants/s of {PROCESSES} processes on one file, opening included", "≥ one", told, rates[0] >= rates[1])


def _fleets() -> Figures:
    server = Server().start()
    try:
        one = _fleet(server, ["one"], 100)
        yield _rate(f"PostgreSQL, {CLIENTS} clients, one budget: grants/s", one, 1000)
        many = _fleet(server, [f"b{i}" for i in range(BUDGETS)], 100)
        yield _rate(f"PostgreSQL, {CLIENTS} clients, {BUDGETS} budgets: grants/s", many, 3000)
    finally:
        server.stop()


def _fleet(server: Server, names: list[str], attempts: int) -> Fleet:
    addresses = [f"{server.address}?ledger={name}" for name in names]
    for address in addresses:
        open_ledger(address, budget="1000000").close()
    return spend(addresses, CLIENTS, attempts, meter=server.cpu)


def _rate(name: str, fleet: Fleet, asked: int) -> Figure:
    """The rate by the clock; beside it what the CPU that a grant takes would allow, were nothing else on the machine."""
    granted, cores = len(fleet.acknowledged), len(os.sched_getaffinity(0))
    client, server = 1e6 * fleet.cpu / granted, 1e6 * fleet.server / granted
    idle = 1e6 * cores / (client + server)
    told = f"{fleet.rate:.0f}, {fleet.batch:.1f} requests in a commit; CPU {client:.0f} + {server:.0f} µs (client + server): "
    return Figure(name, f"≥ {asked}", f"{told}{idle:.0f} on {cores} idle cores", fleet.rate >= asked)
