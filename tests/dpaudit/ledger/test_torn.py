"""Files that were cut, copied in part or edited row by row: reported at once, or against a checkpoint kept elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpaudit.claims import DpauditError
from dpaudit.ledger import Release, TamperedLedger, checkpoint, open_ledger, verify
from dpaudit.ledger.store.merkle import tree_root

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
Mark = dict[str, Any]


def a_release(name: str) -> Release:
    return Release(name, "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1))


def entries_of(path: Path) -> list[bytes]:
    with open_ledger(path, readonly=True) as ledger:
        return list(ledger.entries())


@pytest.fixture
def closed(tmp_path: Path) -> tuple[Path, Mark]:
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="100") as ledger:
        for i in range(30):
            ledger.append(a_release(f"release {i}"))
        return path, checkpoint(ledger, KEY)


@pytest.fixture
def killed(tmp_path: Path, faults: ModuleType) -> tuple[Path, Mark]:
    """A ledger whose writer was killed: 5 releases are in the file, 10 more in the log beside it."""
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="100") as ledger:
        for i in range(5):
            ledger.append(a_release(f"in the file {i}"))

    def write_and_die() -> None:
        ledger = open_ledger(path)
        for i in range(10):
            ledger.append(a_release(f"in the log {i}"))
        os.kill(os.getpid(), signal.SIGKILL)

    assert not faults.ended_well(faults.in_child(write_and_die))
    for name in ("a.ledger", "a.ledger-wal"):
        (tmp_path / "copy").mkdir(exist_ok=True)
        shutil.copy(tmp_path / name, tmp_path / "copy")
    with open_ledger(path) as ledger:
        return tmp_path / "copy" / "a.ledger", checkpoint(ledger, KEY)


def test_a_file_cut_anywhere_is_reported(closed: tuple[Path, Mark], tmp_path: Path) -> None:
    path, _ = closed
    data, torn = path.read_bytes(), tmp_path / "torn.ledger"
    cuts = [*range(0, len(data), 499), *range(4096, len(data), 4096), len(data) - 1]
    for length in cuts:
        torn.write_bytes(data[:length])
        with pytest.raises(DpauditError):
            verify(torn)
    torn.write_bytes(data)
    assert verify(torn).releases == 30


def test_a_page_of_zeros_is_reported(closed: tuple[Path, Mark], tmp_path: Path) -> None:
    """What a disk leaves that wrote the size of a file before its content; pages that hold no entry may be lost."""
    path, mark = closed
    data, torn, entries = path.read_bytes(), tmp_path / "torn.ledger", entries_of(path)
    reported = 0
    for start in range(0, len(data), 4096):
        torn.write_bytes(data[:start] + bytes(4096) + data[start + 4096 :])
        try:
            verify(torn, mark)
            assert entries_of(torn) == entries
        except DpauditError:
            reported += 1
    assert reported >= 4  # header, both tables, at least one page of entries


def test_a_copy_without_its_log_is_a_younger_ledger_that_a_checkpoint_reports(killed: tuple[Path, Mark]) -> None:
    path, mark = killed
    assert verify(path, mark).releases == 15
    shutil.copy(path, path.with_name("alone.ledger"))
    assert verify(path.with_name("alone.ledger")).releases == 5
    with pytest.raises(TamperedLedger, match="are left"):
        verify(path.with_name("alone.ledger"), mark)


def test_a_torn_log_leaves_a_prefix_and_a_checkpoint_reports_what_is_gone(killed: tuple[Path, Mark], tmp_path: Path) -> None:
    path, mark = killed
    entries, log = entries_of(path), path.with_name("a.ledger-wal").read_bytes()
    torn, sizes = tmp_path / "torn" / "a.ledger", set[int]()
    for cut in range(0, len(log), 1777):
        torn.parent.mkdir()
        shutil.copy(path, torn)
        torn.with_name("a.ledger-wal").write_bytes(log[:cut])
        found = entries_of(torn)
        assert found == entries[: len(found)]
        sizes.add(len(found))
        if len(found) < len(entries):
            with pytest.raises(TamperedLedger, match="are left"):
                verify(torn, mark)
        shutil.rmtree(torn.parent)
    assert min(sizes) == 7
    assert len(sizes) > 5


def test_the_log_of_another_ledger_shows_against_a_checkpoint(killed: tuple[Path, Mark], tmp_path: Path) -> None:
    """SQLite takes any valid log beside a file for its own; then the file reads as that other ledger, or not at all."""
    path, _ = killed
    other = tmp_path / "other" / "a.ledger"
    other.parent.mkdir()
    with open_ledger(other) as ledger:
        ledger.append(a_release("another"))
        mark = checkpoint(ledger, KEY)
    shutil.copy(path.with_name("a.ledger-wal"), other.with_name("a.ledger-wal"))
    with pytest.raises(TamperedLedger, match="DPA007"):
        verify(other, mark)


def removed(rows: list[bytes]) -> list[bytes]:
    return rows[:7] + rows[8:]


def reordered(rows: list[bytes]) -> list[bytes]:
    return [*rows[:7], rows[8], rows[7], *rows[9:]]


def replayed(rows: list[bytes]) -> list[bytes]:
    return [*rows, rows[7]]


def cut(rows: list[bytes]) -> list[bytes]:
    return rows[:-1]


@pytest.mark.parametrize("sealed", [False, True], ids=["head as it was", "head made to fit"])
@pytest.mark.parametrize("edit", [removed, reordered, replayed, cut])
def test_rows_edited_in_the_file_are_reported(
    closed: tuple[Path, Mark], edit: Callable[[list[bytes]], list[bytes]], sealed: bool
) -> None:
    """Without the head at once; with a head that fits, a change under the checkpoint shows against it."""
    path, mark = closed
    rows = edit(entries_of(path))
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM entries")
    connection.executemany("INSERT INTO entries VALUES (?, ?)", [(i, row.decode()) for i, row in enumerate(rows)])
    if sealed:
        connection.execute("UPDATE head SET size = ?, root = ?", (len(rows), tree_root(rows).hex()))
    connection.commit()
    connection.close()
    if sealed and edit is replayed:  # an entry after the checkpoint: a later release that looks like an earlier one
        assert verify(path, mark).releases == 31
        return
    with pytest.raises(TamperedLedger, match="DPA007"):
        verify(path, mark)
    if not sealed:
        with pytest.raises(TamperedLedger, match="DPA007"):
            open_ledger(path)
