"""Many processes on one budget, kill -9, a fork, a lock, a read-only folder."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Charge, LedgerUnavailable, load_releases, open_ledger, verify

pytestmark = pytest.mark.slow

NOBODY = 65534


def test_sixteen_processes_spend_one_budget_exactly(tmp_path: Path, faults: ModuleType) -> None:
    found = faults.race(tmp_path, processes=16, attempts=100, grants=500)
    assert (found.granted, found.recorded) == (500, 500)  # of 1,600 attempts


def test_looking_before_charging_overspends(tmp_path: Path, faults: ModuleType) -> None:
    """The twin: the same processes on a ledger without a budget, each looking at what is spent first."""
    assert faults.race(tmp_path, processes=16, attempts=50, grants=200, naive=True).granted > 200


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


def test_no_acknowledged_release_is_lost_in_200_kills_of_two_writers(tmp_path: Path, faults: ModuleType) -> None:
    found = faults.kill_writers(tmp_path, turns=200, seed=20)
    assert found.acknowledged >= 200
    assert (found.lost, found.doubled, found.beyond_in_flight, found.misspent) == (0, 0, 0, 0)


def test_a_writer_that_speaks_too_early_is_found_to_lose_releases(tmp_path: Path, faults: ModuleType) -> None:
    assert faults.kill_writers(tmp_path, turns=20, seed=20, write=faults.say_then_store).lost > 0


def test_a_ledger_inherited_by_fork_is_refused_in_the_child_and_works_in_the_parent(tmp_path: Path, faults: ModuleType) -> None:
    with open_ledger(tmp_path / "a.ledger") as ledger:

        def use() -> None:
            with pytest.raises(LedgerUnavailable, match="fork"):
                ledger.append(faults.a_release("child"))
            ledger.close()

        assert faults.ended_well(faults.in_child(use))
        ledger.append(faults.a_release("parent"))
        assert [release.name for release in ledger.releases()] == ["parent"]


def test_a_locked_ledger_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: ModuleType) -> None:
    monkeypatch.setattr("dpaudit.ledger.store.sqlite.connections.BUSY_SECONDS", 0.05)
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="another process"):
            ledger.append(faults.a_release("x"))
        other.execute("ROLLBACK")
        other.close()
        ledger.append(faults.a_release("y"))
        assert [release.name for release in ledger.releases()] == ["y"]


def test_what_is_known_to_exceed_the_budget_is_refused_without_waiting_for_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spends never fall. A key is looked up first, as its release may be stored already, so that does wait."""
    monkeypatch.setattr("dpaudit.ledger.store.sqlite.connections.BUSY_SECONDS", 0.05)
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="1") as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BudgetExceeded):
            ledger.charge(Charge(Fraction(2)))
        with pytest.raises(LedgerUnavailable, match="another process"):
            ledger.charge(Charge(Fraction(2)), key="perhaps stored")
        with pytest.raises(LedgerUnavailable, match="another process"):
            ledger.charge(Charge(Fraction(1)))
        other.execute("ROLLBACK")
        other.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user can reach, unlike pytest's own."""
    found = Path(tempfile.mkdtemp())
    found.chmod(0o755)
    yield found
    found.chmod(0o755)
    shutil.rmtree(found)


def read_as_nobody(faults: ModuleType, folder: Path, path: Path, names: list[str]) -> bool:
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
            open_ledger(path).append(faults.a_release("not allowed"))

    folder.chmod(0o555)
    return faults.ended_well(faults.in_child(read))


def test_a_ledger_is_read_in_a_folder_that_cannot_be_written(folder: Path, faults: ModuleType) -> None:
    path = folder / "a.ledger"
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("kept"))
    path.chmod(0o444)
    assert read_as_nobody(faults, folder, path, ["kept"])


def test_what_a_killed_writer_left_in_the_log_is_read_there_too(folder: Path, faults: ModuleType) -> None:
    path = folder / "a.ledger"

    def write_and_die() -> None:
        open_ledger(path).append(faults.a_release("in the log"))
        os.kill(os.getpid(), signal.SIGKILL)

    assert not faults.ended_well(faults.in_child(write_and_die))
    assert (folder / "a.ledger-wal").stat().st_size > 0
    (folder / "a.ledger-shm").unlink()
    for file in folder.iterdir():
        file.chmod(0o444)
    assert read_as_nobody(faults, folder, path, ["in the log"])
