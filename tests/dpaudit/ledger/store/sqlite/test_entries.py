"""A ledger file and what may happen to it while it is open."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dpaudit.ledger import TamperedLedger, load_releases, open_ledger, verify
from dpaudit.ledger.store.sqlite.head_file import head_path

CLOSE_LAST = "import sys; from dpaudit.ledger import open_ledger; open_ledger(sys.argv[1]).close()"


def test_reading_a_ledger_that_is_open_here_does_not_drop_its_locks(tmp_path: Path, faults: ModuleType) -> None:
    """Closing a plain handle would: another process that closes would take itself for the last, and remove the log."""
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        for i in range(3):
            ledger.append(faults.a_release(f"{i}"))
            verify(path)
            subprocess.run([sys.executable, "-c", CLOSE_LAST, str(path)], check=True)
            ledger.append(faults.a_release(f"{i} again"))
    assert len(load_releases(path)) == 6


def test_a_log_that_was_removed_under_an_open_ledger_is_noticed_before_the_next_release(
    tmp_path: Path, faults: ModuleType
) -> None:
    """The twin of the one above: a handle that is opened and closed beside SQLite."""
    path = tmp_path / "a.ledger"
    ledger = open_ledger(path)
    ledger.append(faults.a_release("kept"))
    with open(path, "rb"):
        pass
    subprocess.run([sys.executable, "-c", CLOSE_LAST, str(path)], check=True)
    with pytest.raises(TamperedLedger, match="removed or replaced while it was open"):
        ledger.append(faults.a_release("refused"))


def test_a_ledger_from_before_heads_gets_one_once_and_says_so(tmp_path: Path, faults: ModuleType) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("old"))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    head_path(path).unlink()
    assert verify(path).releases == 1  # read as it is; nothing is made
    assert not head_path(path).exists()
    with pytest.warns(UserWarning, match=r"from before heads were kept; from now on a.ledger.head belongs to it"):
        open_ledger(path).close()
    assert head_path(path).exists()
    open_ledger(path).close()
    head_path(path).unlink()
    with pytest.raises(TamperedLedger, match=r"its head a.ledger.head is missing: move or copy it"):
        open_ledger(path)
