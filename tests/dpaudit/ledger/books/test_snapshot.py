"""A signed snapshot saves reading what it vouches for, and nothing else: same book, same figures, and no way to hide a change."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.claims import DpauditError
from dpaudit.ledger import Budget, Cohort, Ledger, PureSums, Release, TamperedLedger, checkpoint, open_ledger, verify
from dpaudit.ledger.books import snapshot as snapshot_module
from dpaudit.ledger.books import snapshot_file
from dpaudit.ledger.books.contents import read_contents
from dpaudit.ledger.books.replay import replay
from dpaudit.ledger.books.snapshot import Snapshot
from dpaudit.ledger.books.snapshot_file import Snapshots, read_snapshot, write_snapshot
from dpaudit.ledger.store.ledger import first_entry
from dpaudit.ledger.store.memory import MemoryEntries

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key()


def a_release(i: int, cohort: Any = None, scale: str = "2") -> Release:
    facts: dict[str, Any] = {"steps": 2097152, "coordinates": 1}
    return Release(
        f"r{i}",
        "laplace",
        Fraction(2),
        {"scale": scale},
        epsilon=2 / Fraction(scale),
        cohort=Cohort.of(cohort),
        values=i,
        **facts,
    )


def spend(ledger: Ledger, first: int, count: int) -> None:
    whom = [None, range(3), "p1", [1, 5], range(2, 9), ["p1", 4], "ü"]
    for i in range(first, first + count):
        release = a_release(i, whom[i % len(whom)], "4" if i % 3 else "2")
        slot = ledger.charge(release.charge(), f"key {i}" if i % 5 == 0 else None)
        if i % 11:  # else lost
            slot.store(release)


def a_ledger(path: Path, count: int = 40, budget: Any = "1000") -> Path:
    with open_ledger(path, budget=budget) as ledger:
        spend(ledger, 0, count)
    return path


@pytest.fixture
def signed(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshot", PUBLIC, KEY)


def state(path: Path, snapshots: Snapshots | None) -> Any:
    contents = read_contents(path, snapshots)
    bound = dp.account(contents, delta="1e-6")
    rows = [release.to_json() for release in contents.releases.releases()]
    return rows, contents.unused, contents.budget, bound.epsilon, bound.worst_client, list(bound.lines)


@pytest.mark.parametrize("budget", ["1000", Budget("1000", "1e-6", filter="zcdp"), Budget("1000", "1e-6", filter="renyi"), None])
def test_what_is_read_from_a_snapshot_on_is_what_all_entries_say(tmp_path: Path, signed: Snapshots, budget: Any) -> None:
    path = a_ledger(tmp_path / "a.ledger", budget=budget)
    first = verify(path, snapshots=signed)
    assert (first.snapshot_size, signed.path.exists()) == (None, True)
    with open_ledger(path) as ledger:
        spend(ledger, 40, 25)
    full, tail = verify(path), verify(path, snapshots=signed)
    assert tail.snapshot_size == first.size
    assert {**vars(tail), "snapshot_size": None} == vars(full)
    assert state(path, signed) == state(path, None)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([None, (0, 2), (1, 5), "p"]), st.booleans()), max_size=14), st.data()
)
def test_a_book_that_goes_on_is_the_book_of_all(done: list[Any], data: st.DataObject) -> None:
    entries = MemoryEntries([first_entry("deployment")])
    ledger = Ledger(entries)
    cut = data.draw(st.integers(0, len(done)))
    snapshot = None
    for place, (kind, who, stored) in enumerate(done):
        if place == cut:
            snapshot = Snapshot.of(replay(entries, PureSums, tabled=True)[0])
        release = a_release(kind, range(*who) if isinstance(who, tuple) else who)
        slot = ledger.charge(release.charge())
        if stored:
            slot.store(release)
    snapshot = snapshot or Snapshot.of(replay(entries, PureSums, tabled=True)[0])
    whole, later = replay(entries, PureSums, tabled=True)[0], replay(entries, PureSums, snapshot=snapshot)[0]
    assert (whole.tree.root(), whole.tree.frontier, whole.stored) == (later.tree.root(), later.tree.frontier, later.stored)
    assert (whole.spends.worst(), whole.unused(), whole.releases) == (later.spends.worst(), later.unused(), later.releases)
    assert whole.table is not None
    assert later.table is not None
    assert [r.to_json() for r in whole.table.releases()] == [r.to_json() for r in later.table.releases()]
    for record in (*range(-1, 7), "p"):
        probe = a_release(0, record).charge()
        assert whole.spends.would_cost(probe) == later.spends.would_cost(probe)


def test_every_flipped_byte_is_noticed(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger", 2)
    verify(path, snapshots=signed)
    whole = signed.path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        signed.path.write_bytes(changed)
        with pytest.raises(TamperedLedger):
            read_snapshot(signed.path, PUBLIC)
    for cut in (0, 1, 63, 64, 65, len(whole) // 2, len(whole) - 1):
        signed.path.write_bytes(whole[:cut])
        with pytest.raises(TamperedLedger):
            verify(path, snapshots=signed)
    signed.path.write_bytes(whole)
    assert verify(path, snapshots=signed).snapshot_size is not None  # the twin


def test_a_snapshot_by_another_key_counts_for_nothing(tmp_path: Path, signed: Snapshots) -> None:
    """A forger who leaves a release out can sign it, but not with the key that the caller names."""
    path = a_ledger(tmp_path / "a.ledger")
    forged = Snapshots(signed.path, (forger := Ed25519PrivateKey.generate()).public_key(), forger)
    verify(path, snapshots=forged)
    with pytest.raises(TamperedLedger, match="another key signed it"):
        verify(path, snapshots=signed)
    with pytest.raises(TamperedLedger, match="another key signed it"):
        read_contents(path, signed)


def test_one_of_another_ledger_or_of_more_entries_is_refused(tmp_path: Path, signed: Snapshots) -> None:
    path, other = a_ledger(tmp_path / "a.ledger"), a_ledger(tmp_path / "b.ledger")
    verify(other, snapshots=signed)
    with pytest.raises(TamperedLedger, match="another ledger"):
        verify(path, snapshots=signed)
    signed.path.unlink()
    early = {name: (tmp_path / name).read_bytes() for name in ("a.ledger", "a.ledger.head")}
    with open_ledger(path) as ledger:
        spend(ledger, 40, 3)
    verify(path, snapshots=signed)
    for name, data in early.items():  # both are put back: without a checkpoint or a snapshot nothing shows
        (tmp_path / name).write_bytes(data)
    verify(path)
    with pytest.raises(TamperedLedger, match=r"entries, \d+ are left"):
        verify(path, snapshots=signed)


def test_a_stale_one_only_means_that_more_is_read(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger", 5)
    size = verify(path, snapshots=signed).size
    for part in range(3):
        with open_ledger(path) as ledger:
            spend(ledger, 5 + 7 * part, 7)
        assert verify(path, snapshots=signed).snapshot_size == size
        assert state(path, signed) == state(path, None)


def test_an_entry_changed_before_it_shows_without_it_and_its_figure_stays(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger")
    before = state(path, signed)
    change(path, 2)
    assert state(path, signed) == before  # what was signed counts, never less
    assert verify(path, snapshots=signed).snapshot_size == verify(path, snapshots=signed).size  # and it is said
    with pytest.raises(TamperedLedger):
        verify(path)
    with pytest.raises(TamperedLedger):
        read_contents(path)


def test_an_entry_changed_after_it_is_noticed(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger")
    size = verify(path, snapshots=signed).size
    with open_ledger(path) as ledger:
        spend(ledger, 40, 6)
    change(path, size + 2)
    with pytest.raises(TamperedLedger):
        verify(path, snapshots=signed)


def change(path: Path, place: int) -> None:
    """Make an ε smaller, as somebody would who can write the file."""
    with sqlite3.connect(path) as connection:
        (entry,) = connection.execute("SELECT entry FROM entries WHERE place = ?", (place,)).fetchone()
        changed = entry.replace('"epsilon":"', '"epsilon":"0.', 1)
        assert changed != entry
        connection.execute("UPDATE entries SET entry = ? WHERE place = ?", (changed, place))
    connection.close()


def test_a_budget_that_is_exceeded_after_it_is_noticed(tmp_path: Path, signed: Snapshots) -> None:
    """Only a changed dpaudit would write such entries; the sums of the snapshot are what shows them."""
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="3") as ledger:
        for i in range(2):
            ledger.append(a_release(i, range(3)))
    verify(path, snapshots=signed)
    with open_ledger(path) as ledger:
        ledger._refuse = lambda charge: None  # type: ignore[method-assign]
        for i in range(2):
            ledger.append(a_release(i, range(3)))
    for snapshots in (None, signed):
        with pytest.raises(TamperedLedger, match="entry 5 is not what a ledger writes there"):
            verify(path, snapshots=snapshots)


def test_a_checkpoint_from_before_it_is_held_to_all_entries(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger", 5)
    with open_ledger(path) as ledger:
        mark = checkpoint(ledger, KEY)
        spend(ledger, 5, 5)
    verify(path, snapshots=signed)
    checked = verify(path, mark, PUBLIC, signed)
    assert (checked.checkpoint_size, checked.snapshot_size) == (mark["size"], None)


def test_another_version_reads_all_again_and_renews_it(
    tmp_path: Path, signed: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_ledger(tmp_path / "a.ledger", 5)
    verify(path, snapshots=signed)
    monkeypatch.setattr(snapshot_module, "version", lambda: "99.0")
    assert verify(path, snapshots=signed).snapshot_size is None
    assert read_snapshot(signed.path, PUBLIC).facts["by"] == "99.0"
    assert verify(path, snapshots=signed).snapshot_size is not None


def test_it_is_renewed_once_much_was_read_anew(tmp_path: Path, signed: Snapshots, monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_ledger(tmp_path / "a.ledger", 5)
    size = verify(path, snapshots=signed).size
    with open_ledger(path) as ledger:
        spend(ledger, 5, 5)
    verify(path, snapshots=signed)
    assert read_snapshot(signed.path, PUBLIC).size == size
    monkeypatch.setattr(snapshot_file, "RENEWED", 3)
    verify(path, snapshots=Snapshots(signed.path, PUBLIC))  # whoever cannot sign only reads
    assert read_snapshot(signed.path, PUBLIC).size == size
    newest = verify(path, snapshots=signed)
    assert (newest.snapshot_size, read_snapshot(signed.path, PUBLIC).size) == (size, newest.size)


def test_none_is_made_where_sums_do_not_tell_whether_budgets_were_kept(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger", 9, budget=None)
    with open_ledger(path, budget="1"):
        pass  # below what was spent
    assert verify(path, snapshots=signed).snapshot_size is None
    assert not signed.path.exists()


def test_a_reader_without_a_snapshot_is_told_how_to_make_one(tmp_path: Path, signed: Snapshots) -> None:
    with pytest.raises(DpauditError, match="no such snapshot"):
        verify(a_ledger(tmp_path / "a.ledger", 2), snapshots=Snapshots(signed.path, PUBLIC))


def test_whoever_is_killed_while_writing_leaves_a_whole_one(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger", 5)
    verify(path, snapshots=signed)
    seed = KEY.private_bytes_raw().hex()
    program = (
        "import sys\nfrom pathlib import Path\nfrom cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey\n"
        "from dpaudit.ledger.books.snapshot_file import read_snapshot, write_snapshot\n"
        f"path, key = Path({str(signed.path)!r}), Ed25519PrivateKey.from_private_bytes(bytes.fromhex({seed!r}))\n"
        "one = read_snapshot(path, key.public_key())\nprint('ready', flush=True)\n"
        "while True:\n    write_snapshot(one, path, key)\n"
    )
    for pause in (0.0, 0.003, 0.01, 0.02):
        writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(pause)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert verify(path, snapshots=signed).snapshot_size is not None


def test_what_was_signed_but_is_no_book_is_refused(tmp_path: Path, signed: Snapshots) -> None:
    path = a_ledger(tmp_path / "a.ledger", 12)
    verify(path, snapshots=signed)
    whole = read_snapshot(signed.path, PUBLIC)
    empty = {**whole.columns, "kind": b"", "first": b"", "last": b""}
    wrong: list[Snapshot] = [Snapshot({**whole.facts, **change}, whole.columns) for change in (
        {"frontier": []}, {"frontier": ["00" * 32] * len(whole.facts["frontier"])}, {"releases": 0}, {"kinds": []},
        {"cohorts": []}, {"kind": "other"}, {"open": [{}]},
    )]  # fmt: skip
    for snapshot in [*wrong, Snapshot(whole.facts, empty)]:
        write_snapshot(snapshot, signed.path, KEY)
        with pytest.raises(TamperedLedger):
            verify(path, snapshots=Snapshots(signed.path, PUBLIC))
