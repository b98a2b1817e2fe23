"""Damage to the write-ahead log of a killed writer: one flipped bit, its deletion. Each must be noticed by every reader."""

from __future__ import annotations

import os
import random
import shutil
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dpaudit as dp
from benchmarks.faults import a_release, ended_well, in_child
from benchmarks.figures import Figure, Figures
from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import TamperedLedger, open_ledger, verify

ACKNOWLEDGED = 10  # releases of the killed writer, which use up the budget


@dataclass(frozen=True)
class LogFaults:
    """Of ``tried`` damaged logs: how many each of verify, account and the door noticed; what was granted beyond the budget."""

    tried: int
    verified: int
    accounted: int
    opened: int
    overspent: int


def killed_ledger(folder: Path) -> Path:
    """A ledger whose whole budget was spent by a writer that was killed, so that its releases are in the log only."""
    path = folder / "a.ledger"
    open_ledger(path, budget="1/10").close()

    def write_and_die() -> None:
        ledger = open_ledger(path)
        for i in range(ACKNOWLEDGED):
            ledger.append(a_release(f"in the log {i}"))
        os.kill(os.getpid(), signal.SIGKILL)

    assert not ended_well(in_child(write_and_die))
    return path


def damage_logs(folder: Path, flips: int, seed: int, *, with_head: bool = True) -> LogFaults:
    """``flips`` single bits, and the deletion. ``with_head=False``, the twin: ledgers as they were before heads were kept."""
    path = killed_ledger(folder)
    log, chooser = path.with_name("a.ledger-wal").read_bytes(), random.Random(seed)
    changes: list[Callable[[], bytes | None]] = [lambda: _flipped(log, chooser) for _ in range(flips)]
    found = [0, 0, 0, 0]
    for number, change in enumerate([*changes, lambda: None]):
        copy, damaged = folder / str(number), change()
        for place, attempt in enumerate((verify, dp.account, _release_again)):
            _copy_of(path, copy, damaged, with_head)
            try:
                found[3] += attempt(copy / "a.ledger") is True
            except TamperedLedger:
                found[place] += 1
            shutil.rmtree(copy)
    return LogFaults(flips + 1, *found)


def _flipped(log: bytes, chooser: random.Random) -> bytes:
    place, damaged = chooser.randrange(len(log)), bytearray(log)
    damaged[place] ^= 1 << chooser.randrange(8)
    return bytes(damaged)


def _copy_of(path: Path, folder: Path, log: bytes | None, with_head: bool) -> None:
    folder.mkdir()
    for name in ("a.ledger", *(["a.ledger.head"] if with_head else [])):
        shutil.copy(path.with_name(name), folder)
    if log is not None:
        (folder / "a.ledger-wal").write_bytes(log)
    if not with_head:
        _forget_head(folder / "a.ledger")


def _forget_head(path: Path) -> None:
    """Make it a ledger of the first layout, by the byte of its header that says so."""
    data = bytearray(path.read_bytes())
    data[63] = 1
    path.write_bytes(data)


def _release_again(path: Path) -> bool:
    """Did the door grant one more from the budget that was used up?"""
    with open_ledger(path) as ledger:
        try:
            ledger.append(a_release("again"))
        except BudgetExceeded:
            return False
    return True


def logs(folder: Path, scale: float) -> Figures:
    flips = max(10, round(400 * scale))
    found = damage_logs(folder, flips, seed=400)
    for who, noticed in (("verify", found.verified), ("account", found.accounted), ("the door", found.opened)):
        name = f"{flips} flipped bits of a killed writer's log, and its deletion: noticed by {who}"
        yield Figure(name, f"{found.tried}", str(noticed), noticed == found.tried)
    yield Figure("… granted beyond the budget", "0", str(found.overspent), found.overspent == 0)
    (folder / "twin").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each twin says that it is from before heads were kept
        twin = damage_logs(folder / "twin", max(10, flips // 10), seed=400, with_head=False)
    yield Figure("… the same without heads", "> 0", str(twin.overspent), twin.overspent > 0)
