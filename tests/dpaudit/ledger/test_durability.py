"""Real faults: many processes on one budget, kill -9, a full disk, a fork, a read-only folder."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Charge, Cohort, LedgerUnavailable, Release, load_releases, open_ledger, verify
from dpaudit.ledger.units import as_units

NOBODY = 65534


def a_release(name: str) -> Release:
    return Release(
        name,
        "laplace",
        Fraction(1),
        {"scale": "100"},
        epsilon=Fraction("0.01"),
        cohort=Cohort.all(),
        values=as_units(7),
    )


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


def test_eight_processes_spend_one_budget_exactly(tmp_path: Path) -> None:
    path, counts = tmp_path / "a.ledger", tmp_path / "counts"
    open_ledger(path, budget="5").close()

    def spend() -> None:
        granted = 0
        with open_ledger(path) as ledger:
            for _ in range(200):
                try:
                    ledger.charge(Charge(Fraction("0.01"), name="one of many"))
                    granted += 1
                except BudgetExceeded:
                    continue
        with open(counts, "a") as file:
            file.write(f"{granted}\n")

    children = [in_child(spend) for _ in range(8)]
    endings = [ended_well(child) for child in children]
    assert all(endings)
    granted = [int(line) for line in counts.read_text().split()]
    assert len(granted) == 8
    assert sum(granted) == 500  # 5 / 0.01, of 1600 attempts
    with open_ledger(path, readonly=True) as ledger:
        assert ledger.spent() == (5, 0)
        assert len(ledger.unused_charges()) == 500


def test_checking_before_the_transaction_would_overspend(tmp_path: Path) -> None:
    """The twin: two handles that check first and write later grant twice what the ledger grants."""
    path = tmp_path / "a.ledger"
    charge = Charge(Fraction(1))
    with open_ledger(path, budget="1") as one, open_ledger(path) as two:
        allowed = [ledger._filter.would_cost(charge)[0] <= 1 for ledger in (one, two)]
        assert allowed == [True, True]
        one.charge(charge)
        with pytest.raises(BudgetExceeded):
            two.charge(charge)


def write_until_killed(path: Path, writer: str, says: int) -> None:
    """Store releases for ever, and say each one's name after the ledger has acknowledged it."""
    ledger = open_ledger(path)
    for i in range(10**9):
        name = f"{writer}-{i}"
        with ledger.charge(a_release(name).charge(), key=name) as slot:
            slot.store(a_release(name))
        os.write(says, f"{name}\n".encode())


def test_no_acknowledged_release_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    """20 times two writers, killed at seeded moments: what they heard as stored is there, once."""
    path, delays, acknowledged = tmp_path / "a.ledger", random.Random(20), set()
    open_ledger(path, budget="1000").close()
    for turn in range(20):
        heard, says = os.pipe()
        writers = [in_child(partial(write_until_killed, path, f"{turn}{name}", says)) for name in "ab"]
        os.close(says)
        first = os.read(heard, 1 << 16)
        for writer in writers:
            time.sleep(delays.uniform(0, 0.02))
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
        with open(heard, "rb") as pipe:
            acknowledged.update((first + pipe.read()).decode().splitlines())
    with open_ledger(path) as ledger:
        names = [release.name for release in ledger.releases()]
        unused = len(ledger.unused_charges())
        assert ledger.spent()[0] == Fraction("0.01") * (len(names) + unused)
    assert len(acknowledged) >= 20
    assert acknowledged <= set(names)
    assert len(names) == len(set(names))
    assert len(names) - len(acknowledged) + unused <= 40  # at most the one in flight per kill
    assert verify(path).releases == len(names)


def test_a_full_disk_refuses_the_release_and_loses_nothing(tmp_path: Path) -> None:
    path, told = tmp_path / "a.ledger", tmp_path / "told"
    told.write_bytes(b"")
    open_ledger(path, budget="1000").close()

    def fill() -> None:
        ledger = open_ledger(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # no file grows beyond this
        for i in range(1000):
            try:
                ledger.append(a_release(str(i)))
            except LedgerUnavailable:
                return
            with open(told, "a") as file:
                file.write(f"{i}\n")

    assert ended_well(in_child(fill))
    stored = {release.name for release in load_releases(path)}
    acknowledged = set(told.read_text().split())
    assert 0 < len(acknowledged) < 1000
    assert acknowledged <= stored
    with open_ledger(path) as ledger:
        ledger.append(a_release("space again"))
    assert verify(path).releases == len(stored) + 1


def test_a_ledger_inherited_by_fork_is_refused_in_the_child_and_works_in_the_parent(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "a.ledger") as ledger:

        def use() -> None:
            with pytest.raises(LedgerUnavailable, match="fork"):
                ledger.append(a_release("child"))
            ledger.close()

        assert ended_well(in_child(use))
        ledger.append(a_release("parent"))
        assert [release.name for release in ledger.releases()] == ["parent"]


def test_a_locked_ledger_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.ledger.sqlite._BUSY_SECONDS", 0.05)
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="another process"):
            ledger.append(a_release("x"))
        other.execute("ROLLBACK")
        other.close()
        ledger.append(a_release("y"))
        assert [release.name for release in ledger.releases()] == ["y"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user can reach, unlike pytest's own."""
    found = Path(tempfile.mkdtemp())
    found.chmod(0o755)
    yield found
    found.chmod(0o755)
    shutil.rmtree(found)


def read_as_nobody(folder: Path, path: Path, names: list[str]) -> bool:
    """Read a ledger as a user who may not write there; root may write anywhere, so the child is not root."""

    def read() -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        assert [release.name for release in load_releases(path)] == names
        assert verify(path).releases == len(names)
        with pytest.raises(LedgerUnavailable):
            open_ledger(path).append(a_release("not allowed"))

    folder.chmod(0o555)
    return ended_well(in_child(read))


def test_a_ledger_is_read_in_a_folder_that_cannot_be_written(folder: Path) -> None:
    path = folder / "a.ledger"
    with open_ledger(path) as ledger:
        ledger.append(a_release("kept"))
    path.chmod(0o444)
    assert read_as_nobody(folder, path, ["kept"])


def test_what_a_killed_writer_left_in_the_log_is_read_there_too(folder: Path) -> None:
    path = folder / "a.ledger"

    def write_and_die() -> None:
        open_ledger(path).append(a_release("in the log"))
        os.kill(os.getpid(), signal.SIGKILL)

    assert not ended_well(in_child(write_and_die))
    assert (folder / "a.ledger-wal").stat().st_size > 0
    (folder / "a.ledger-shm").unlink()
    for file in folder.iterdir():
        file.chmod(0o444)
    assert read_as_nobody(folder, path, ["in the log"])
