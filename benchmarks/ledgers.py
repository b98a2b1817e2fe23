"""A million entries verified, whatever the order of their cohorts: hashes, forms, releases, sums and the budget.

And a million releases of the live door, as the commands read them: at once, and from a signed snapshot on. Writing them takes
some minutes, in memory where there is such a folder: what a sync costs is ``grants``' affair.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import dpaudit as dp
from benchmarks.figures import Figure, Figures
from dpaudit.ledger import Budget, Cohort, Release, canonical, open_ledger, verify
from dpaudit.ledger.records.charge_entries import charge_to_json
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.sqlite import create

ENTRIES = 10**6
RELEASES, LATER = 10**6, 1000  # through the live door
ASKED, ASKED_ACCOUNT, ASKED_LATER = 10.0, 15.0, 1.0  # CPU seconds
ASKED_PEAK = 300  # MB
MEMORY = Path("/dev/shm")

_BUDGET = canonical({"entry": "budget", **Budget(10**8).to_json(), "filter": "pure-sums"})


def ledgers() -> Figures:
    order = list(range(ENTRIES))
    random.Random(1).shuffle(order)
    patterns: dict[str, Callable[[int], Any]] = {
        "one batch after the other": lambda i: range(i, i + 1),
        "single records in random order": lambda i: range(2 * order[i], 2 * order[i] + 1),
        "overlapping windows in random order": lambda i: range(order[i], order[i] + ENTRIES),
        "nested windows": lambda i: range(i, 2 * ENTRIES - i),
        "pseudonyms": lambda i: f"p{order[i]}",
        "everyone": lambda i: None,
    }
    for name, cohort in patterns.items():
        yield _verified(f"10^6 releases verified: {name}", _released(cohort))
    yield _verified("5·10^5 charges and their releases verified", _charged())
    yield from _of_a_door()


def _release(i: int, cohort: Any) -> Release:
    return Release(
        f"batch {i // 100}", "laplace", Fraction(2), {"scale": "2", "grid": "1/1048576"}, epsilon=Fraction(i % 7 + 1),
        cohort=Cohort.of(cohort), values=[i], steps=2097152, coordinates=1,
    )  # fmt: skip


def _released(cohort: Callable[[int], Any]) -> Iterator[bytes]:
    for i in range(ENTRIES):
        yield canonical({"entry": "release", "release": _release(i, cohort(i)).to_json()})


def _charged() -> Iterator[bytes]:
    for i in range(ENTRIES // 2):
        release = _release(i, range(3 * i, 3 * i + 2))
        yield canonical(charge_to_json(release.charge(), None))
        yield canonical({"entry": "release", "charge": 2 + 2 * i, "release": release.to_json()})


def _of_a_door() -> Figures:
    """The commands as a person calls them, imports included, on what the live door wrote: a charge and a release each."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:  # in memory: no sync is waited for
        path, key, snapshot = (str(Path(folder) / name) for name in ("a.ledger", "key", "snapshot"))
        _write(path, 0, RELEASES)
        _command("keygen", "-o", key)
        named = ("--snapshot", snapshot, "--key")
        for name, asked in (("verify", ASKED), ("account", ASKED_ACCOUNT)):
            seconds, peak = _command(name, path)
            told, met = f"{seconds:.1f} s, {peak:.0f} MB", seconds <= asked and peak <= ASKED_PEAK
            yield Figure(f"{name}: 10^6 releases of a door", f"≤ {asked:.0f} s, {ASKED_PEAK} MB", told, met)
        seconds, peak = _command("account", path, *named, key)
        yield Figure("account, and a signed snapshot made", "", f"{seconds:.1f} s, {peak:.0f} MB")
        _write(path, RELEASES, LATER)
        for name in ("verify", "account"):
            seconds, peak = _command(name, path, *named, key + ".pub")
            told = f"{seconds:.2f} s, {peak:.0f} MB"
            yield Figure(f"{name} from the snapshot on, {LATER:,} releases later", "≤ 1 s", told, seconds <= ASKED_LATER)


def _write(path: str, first: int, count: int) -> None:
    """One batch after the other, each of two records, with a gap before the next: ranges that do not join."""
    noise = dp.Laplace(scale=2)
    with open_ledger(path) as ledger, dp.live(ledger, budget="1000000000") as channel:
        for i in range(first, first + count):
            channel.release(f"batch {i}", 1.0, noise, sensitivity=2, cohort=range(3 * i, 3 * i + 2))


def _command(*arguments: str) -> tuple[float, float]:
    """(CPU seconds, megabytes at most) of a command that succeeds."""
    program = subprocess.Popen([sys.executable, "-m", "dpaudit", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != 0:
        raise RuntimeError(f"dpaudit {arguments[0]}: exit {program.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def _verified(name: str, entries: Iterator[bytes]) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ledger"
        create(path, [first_entry("deployment"), _BUDGET, *entries])
        started = time.process_time()
        verify(path)
        seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    return Figure(name, f"< {ASKED:.0f} s of a core", f"{seconds:.1f} s, process at most {peak} MB", seconds < ASKED)
