"""Real faults for a ledger: writers that are killed, processes that race for one budget, files with one byte changed.

The suite runs these in small, ``python -m benchmarks.soak`` in full. Each has a twin that must be caught by the same count.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.claims import BudgetExceeded, DpauditError
from dpaudit.ledger import Charge, Cohort, Release, open_ledger, verify

TURNS_PER_LEDGER = 10  # opening a ledger reads all of it; a few turns each keep that short

Writer = Callable[[Path, str, int], None]


def in_child(work: Callable[[], None]) -> int:
    """Start a forked process, return its id; it ends with 0 when the work returns, with 1 when it raises."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def ended_well(child: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def remove(path: Path) -> None:
    """A closed ledger and its head: one without the other is no clean slate."""
    for name in (path.name, f"{path.name}.head"):
        path.with_name(name).unlink()


def a_release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "100"}, epsilon=Fraction("0.01"), values=np.array(7))


# --- kill -9 ---


@dataclass(frozen=True)
class Kills:
    """What 2·``turns`` killed writers left: releases they were told are stored, and how many of these are not there."""

    turns: int
    acknowledged: int
    lost: int
    doubled: int
    beyond_in_flight: int  # stored or charged, never acknowledged, and more than one per killed writer
    misspent: int  # ledgers whose spends are not 0.01 for every charge


def store_then_say(path: Path, writer: str, says: int) -> None:
    """Store releases for ever, and say each one's name after the ledger has acknowledged it."""
    ledger = open_ledger(path)
    for i in range(10**9):
        name = f"{writer}-{i}"
        with ledger.charge(a_release(name).charge(), key=name) as slot:
            slot.store(a_release(name))
        os.write(says, f"{name}\n".encode())


def say_then_store(path: Path, writer: str, says: int) -> None:
    """The twin: it says a name before the ledger has it."""
    ledger = open_ledger(path)
    for i in range(10**9):
        os.write(says, f"{writer}-{i}\n".encode())
        time.sleep(0.002)  # about as long as a disk takes: entries are committed before that now
        ledger.append(a_release(f"{writer}-{i}"), key=f"{writer}-{i}")


def kill_writers(folder: Path, turns: int, seed: int, write: Writer = store_then_say) -> Kills:
    """``turns`` times two writers on one ledger, each killed at a seeded moment after the first acknowledgement."""
    delays, counts = random.Random(seed), np.zeros(5, dtype=int)
    for first in range(0, turns, TURNS_PER_LEDGER):
        path, acknowledged = folder / f"{first}.ledger", set[str]()
        open_ledger(path, budget="100000").close()
        here = range(first, min(first + TURNS_PER_LEDGER, turns))
        for turn in here:
            acknowledged |= _kill_two(path, turn, delays, write)
        counts += _left_behind(path, acknowledged, 2 * len(here))
        remove(path)
    return Kills(turns, *map(int, counts))


def _kill_two(path: Path, turn: int, delays: random.Random, write: Writer) -> set[str]:
    heard, says = os.pipe()
    writers = [in_child(partial(write, path, f"{turn}{name}", says)) for name in "ab"]
    os.close(says)
    first = os.read(heard, 1 << 16)
    for writer in writers:
        time.sleep(delays.uniform(0, 0.02))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    with open(heard, "rb") as pipe:
        return set((first + pipe.read()).decode().splitlines())


def _left_behind(path: Path, acknowledged: set[str], killed: int) -> tuple[int, int, int, int, int]:
    with open_ledger(path) as ledger:
        names = [release.name for release in ledger.releases()]
        unused = len(ledger.unused_charges())
        misspent = ledger.spent()[0] != Fraction("0.01") * (len(names) + unused)
    assert verify(path).releases == len(names)
    extra = len(set(names) - acknowledged) + unused
    return len(acknowledged), len(acknowledged - set(names)), len(names) - len(set(names)), max(0, extra - killed), int(misspent)


# --- one budget, many processes ---


@dataclass(frozen=True)
class Race:
    """``granted`` as the processes counted it, ``recorded`` as the ledger did; seconds until the last grant, and in all."""

    granted: int
    recorded: int
    granting: float
    seconds: float


def race(folder: Path, processes: int, attempts: int, grants: int, naive: bool = False) -> Race:
    """All processes try ``attempts`` charges of 1 against a budget of ``grants``.

    ``naive``, the twin: each looks at what is spent and then charges a ledger that has no budget.
    """
    path, counts = folder / "race.ledger", folder / "counts"
    counts.write_text("")
    open_ledger(path, budget=None if naive else grants).close()
    started = time.monotonic()
    children = [in_child(partial(_spend, path, counts, attempts, grants if naive else None)) for _ in range(processes)]
    endings = [ended_well(child) for child in children]
    seconds = time.monotonic() - started
    assert all(endings)
    with open_ledger(path, readonly=True) as ledger:
        recorded = int(ledger.spent()[0])
    told = [line.split() for line in counts.read_text().splitlines()]
    remove(path)
    counts.unlink()
    last = max(float(moment) for _, moment in told)
    return Race(sum(int(granted) for granted, _ in told), recorded, last - started, seconds)


def _spend(path: Path, counts: Path, attempts: int, naive: int | None) -> None:
    granted, last, one = 0, 0.0, Charge(Fraction(1), name="one of many", cohort=Cohort.all())
    with open_ledger(path) as ledger:
        for _ in range(attempts):
            try:
                if naive is not None:
                    seen = ledger.spent()[0]
                    time.sleep(0.001)  # others look meanwhile, on however few cores
                    if seen >= naive:
                        continue
                ledger.charge(one)
                granted, last = granted + 1, time.monotonic()  # one clock for all processes
            except BudgetExceeded:
                continue
    with open(counts, "a") as file:
        file.write(f"{granted} {last}\n")


# --- one byte changed ---


@dataclass(frozen=True)
class Flips:
    """Of ``flips`` files: ``silent`` read as other entries than were written without a word; 0 is asked."""

    flips: int
    reported: int
    harmless: int
    silent: int
    fooled: int  # changed entries that a reader without hashes takes for the content: the twin
    untyped: int  # an error that is not one of dpaudit's


def flip(path: Path, scratch: Path, places: Iterable[int], seed: int) -> Flips:
    """Change one seeded bit at each place of a closed ledger and read the copy back."""
    original, entries, rows, chooser = path.read_bytes(), _entries(path), _plain_rows(path), random.Random(seed)
    flips = reported = harmless = silent = fooled = untyped = 0
    for place in places:
        changed = bytearray(original)
        changed[place] ^= 1 << chooser.randrange(8)
        scratch.write_bytes(changed)
        flips += 1
        try:
            same = _entries(scratch) == entries
            harmless, silent = harmless + same, silent + (not same)
        except DpauditError:
            reported += 1
            fooled += _plain_rows(scratch) not in (None, rows)
        except Exception:
            untyped += 1
        for name in ("-wal", "-shm"):
            scratch.with_name(scratch.name + name).unlink(missing_ok=True)
    return Flips(flips, reported, harmless, silent, fooled, untyped)


def _entries(path: Path) -> list[bytes]:
    with open_ledger(path, readonly=True) as ledger:
        return list(ledger.entries())


def _plain_rows(path: Path) -> list[tuple[Any, Any]] | None:
    """What a reader without hashes takes for the content."""
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    try:
        return connection.execute("SELECT place, entry FROM entries ORDER BY place").fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()
