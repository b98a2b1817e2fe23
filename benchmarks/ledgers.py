"""A million entries verified, whatever the order of their cohorts: hashes, forms, releases, sums and the budget."""

from __future__ import annotations

import itertools
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import dpaudit as dp
from benchmarks.figures import Figure, Figures
from dpaudit.ledger import Budget, Cohort, Release, canonical, verify
from dpaudit.ledger.records.charge_entries import charge_to_json
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.sqlite import create

ENTRIES = 10**6
ACCOUNTED = 10**5
ASKED, ASKED_ACCOUNT = 10.0, 15.0  # seconds for 10^6 releases

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
    yield from _accounted()


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


def _accounted() -> Figures:
    """A tenth of the ledger that the figures are asked for, as a door writes it: a charge and a release for each batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ledger"
        create(path, [first_entry("deployment"), _BUDGET, *itertools.islice(_charged(), 2 * ACCOUNTED)])
        dp.account([{"mechanism": "laplace", "scale": "2", "sensitivity": "1"}])  # what it imports is not measured
        for name, asked, work in (("verified", ASKED, verify), ("accounted for", ASKED_ACCOUNT, dp.account)):
            started = time.process_time()
            work(path)
            seconds = (time.process_time() - started) * ENTRIES / ACCOUNTED
            told = f"{seconds:.0f} s by {ACCOUNTED:,} of them"
            yield Figure(f"10^6 releases of a door {name}", f"≤ {asked:.0f} s of a core", told, seconds <= asked)


def _verified(name: str, entries: Iterator[bytes]) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ledger"
        create(path, [first_entry("deployment"), _BUDGET, *entries])
        started = time.process_time()
        verify(path)
        seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    return Figure(name, f"< {ASKED:.0f} s of a core", f"{seconds:.1f} s, process at most {peak} MB", seconds < ASKED)
