"""A ledger that is opened from a signed snapshot grants and refuses as one that was read whole, and hides no change."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Cohort, Ledger, LedgerUnavailable, Release, TamperedLedger, open_ledger, verify
from dpaudit.ledger.books.snapshot_file import Snapshots
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.sqlite.entries import SqliteEntries

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key()


def a_release(i: int, cohort: Any = None) -> Release:
    facts: dict[str, Any] = {"steps": 2097152, "coordinates": 1}
    return Release(
        f"r{i}", "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1), cohort=Cohort.of(cohort), values=i, **facts
    )


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A ledger that has spent 6 of 10 for everybody, the 5th under a key, and a snapshot of it after the 4th."""
    path, snapshot = tmp_path / "a.ledger", tmp_path / "a.snapshot"
    with open_ledger(path, budget="10") as ledger:
        for i in range(4):
            ledger.append(a_release(i), "first" if i == 0 else None)
    verify(path, snapshots=Snapshots(snapshot, PUBLIC, KEY))
    with open_ledger(path) as ledger:
        ledger.append(a_release(4), "late")
        ledger.charge(a_release(5).charge())  # and lost
    return path, snapshot


def opened(files: tuple[Path, Path], **terms: Any) -> Ledger:
    return open_ledger(files[0], **{"snapshot": files[1], "trusted_key": PUBLIC, **terms})


@pytest.fixture
def read_places(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where reading of more than one entry began."""
    places: list[int] = []
    read = SqliteEntries.read

    def noted(self: Any, first: int) -> Any:
        for count, entry in enumerate(read(self, first)):
            if count == 1:
                places.append(first)
            yield entry

    monkeypatch.setattr(SqliteEntries, "read", noted)
    return places


def test_a_door_on_a_snapshot_grants_what_is_left(files: tuple[Path, Path], read_places: list[int]) -> None:
    with opened(files) as ledger:
        assert 0 not in read_places  # the entries that the snapshot vouches for were not read
        assert (ledger.spent()[0], ledger.budget.epsilon if ledger.budget else None) == (6, 10)
        assert [charge.name for charge in ledger.unused_charges()] == ["r5"]
        for key, i in (("first", 0), ("late", 4)):  # what is stored under a key is handed out again, and not charged
            assert ledger.append(a_release(i), key).values == i
        for i in range(4):
            ledger.append(a_release(10 + i))
        with pytest.raises(dp.BudgetExceeded):
            ledger.append(a_release(20))
        assert len(list(ledger.releases())) == 9
    assert verify(files[0]).releases == 9  # read whole: what was written is what any other ledger would write


def test_a_door_of_the_public_face_goes_on_from_it(files: tuple[Path, Path]) -> None:
    with opened(files) as ledger, dp.live(ledger) as channel:
        channel.release("sum", dp.seal([1.0] * 9, 0, 1).sum(), dp.Laplace(scale="1/4"), sensitivity=1)
        with pytest.raises(dp.BudgetExceeded):
            channel.release("sum", dp.seal([1.0] * 9, 0, 1).sum(), dp.Laplace(scale=1), sensitivity=1)


def test_only_one_that_the_named_key_signed_counts(files: tuple[Path, Path]) -> None:
    stranger = Ed25519PrivateKey.generate()
    with pytest.raises(TamperedLedger, match="another key signed it"):
        opened(files, trusted_key=stranger.public_key())
    forged = files[1].with_name("forged")
    verify(files[0], snapshots=Snapshots(forged, stranger.public_key(), stranger))
    with pytest.raises(TamperedLedger, match="another key signed it"):
        opened(files, snapshot=forged)
    for wrong in ({"trusted_key": None}, {"snapshot": None}, {"snapshot": files[1].with_name("none")}):
        with pytest.raises(InvalidValue):
            opened(files, **wrong)


def test_one_of_another_ledger_opens_no_door_and_makes_no_ledger_of_its_own(files: tuple[Path, Path]) -> None:
    with pytest.raises(TamperedLedger, match="another ledger"):
        opened((files[0].with_name("new.ledger"), files[1]))


def test_a_ledger_behind_its_snapshot_or_its_head_is_refused(files: tuple[Path, Path]) -> None:
    path, early = files[0], {file: file.read_bytes() for file in files[0].parent.iterdir() if file.name.startswith("a.ledger")}
    with open_ledger(path) as ledger:
        ledger.append(a_release(6))
    late = Path(f"{path}.head").read_bytes()
    for file, data in early.items():
        file.write_bytes(data)
    opened(files).close()  # the twin: both went back, to after the snapshot
    Path(f"{path}.head").write_bytes(late)
    with pytest.raises(TamperedLedger, match="were acknowledged"):
        opened(files)
    for file, data in early.items():
        file.write_bytes(data)
    with open_ledger(path) as ledger:
        ledger.append(a_release(6))
    verify(path, snapshots=Snapshots(files[1].with_name("later"), PUBLIC, KEY))
    for file, data in early.items():
        file.write_bytes(data)
    with pytest.raises(TamperedLedger, match=r"entries, \d+ are left"):
        opened((path, files[1].with_name("later")))


def test_an_entry_after_it_that_was_changed_is_refused(files: tuple[Path, Path]) -> None:
    with sqlite3.connect(files[0]) as connection:
        connection.execute("UPDATE entries SET entry = replace(entry, '\"r5\"', '\"r9\"') WHERE place = 7")
    connection.close()
    with pytest.raises(TamperedLedger):
        opened(files)


def test_a_failed_commit_is_read_again_from_the_snapshot_and_without_it(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, read_places: list[int]
) -> None:
    """The book is behind then. Whoever removes the snapshot meanwhile costs time, and stops no service."""
    for gone in (False, True):
        with opened(files) as ledger:
            with monkeypatch.context() as patch:
                patch.setattr(SqliteEntries, "write", _failing)
                with pytest.raises(LedgerUnavailable):
                    ledger.append(a_release(7))
            if gone:
                files[1].unlink()
            read_places.clear()
            assert ledger.spent()[0] == 6
            assert (0 in read_places) == gone


def _failing(self: EntryStore, place: int, entry: bytes, root: bytes) -> None:
    raise OSError("the disk is full")
