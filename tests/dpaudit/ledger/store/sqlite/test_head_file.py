"""What was acknowledged is on disk before it is handed out, and a ledger that holds less is refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dpaudit as dp
from dpaudit.ledger import TamperedLedger, checkpoint, open_ledger, verify
from dpaudit.ledger.store.sqlite.head_file import HeadFile, head_path, make_head_file

ROOTS = [bytes([i]) * 32 for i in range(5)]


def test_the_newest_of_two_slots_is_read_and_the_older_one_overwritten(tmp_path: Path) -> None:
    make_head_file(tmp_path / "a.head")
    head = HeadFile(tmp_path / "a.head", readonly=False)
    assert head.read() == (0, bytes(32))
    for size in range(1, 5):
        head.write(size, ROOTS[size])
        assert head.read() == (size, ROOTS[size])
    data = (tmp_path / "a.head").read_bytes()
    assert b"size 3\n" in data
    assert b"size 4\n" in data
    head.close()


@pytest.mark.parametrize("cut", range(0, 160, 7))
def test_a_write_that_was_not_finished_leaves_the_head_before_it(tmp_path: Path, cut: int) -> None:
    make_head_file(tmp_path / "a.head")
    head = HeadFile(tmp_path / "a.head", readonly=False)
    for size in (1, 2):
        head.write(size, ROOTS[size])
    before = (tmp_path / "a.head").read_bytes()
    head.write(3, ROOTS[3])
    after = (tmp_path / "a.head").read_bytes()
    places = [i for i in range(len(after)) if before[i : i + 1] != after[i : i + 1]]
    torn = min(places) // 4096 * 4096 + cut
    (tmp_path / "a.head").write_bytes(after[:torn] + before[torn:])
    assert head.read() in ((2, ROOTS[2]), (3, ROOTS[3]))
    assert (head.read()[0] == 3) == ((after[:torn] + before[torn:]) == after)
    head.close()


def test_a_head_with_neither_slot_whole_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    open_ledger(path).close()
    head_path(path).write_bytes(b"x" * 5000)
    for attempt in (verify, open_ledger, dp.account):
        with pytest.raises(TamperedLedger, match=r"DPA007.*head of the ledger is damaged"):
            attempt(path)  # type: ignore[operator]


def test_a_log_is_synced_before_the_head_and_both_before_anything_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    really = os.fdatasync

    def sync(handle: int) -> None:
        calls.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        really(handle)

    monkeypatch.setattr(os, "fdatasync", sync)
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger, dp.live(ledger, budget="100") as channel:
        head = HeadFile(head_path(path), readonly=True)
        for _ in range(3):
            calls.clear()
            channel.release("sum", 1.0, dp.Laplace(scale=2), sensitivity=2)
            assert calls == ["a.ledger-wal", "a.ledger.head"]
            assert head.read() == (ledger.head().size, bytes.fromhex(ledger.head().root))
        head.close()


def test_a_flipped_or_deleted_log_of_a_killed_writer_is_noticed(
    tmp_path: Path, benchmark_module: Callable[[str], ModuleType]
) -> None:
    """A small sample; ``python -m benchmarks.soak logs`` flips 400 bits. The twin has no heads, and is granted again."""
    faults = benchmark_module("log_faults")
    for name in ("heads", "none"):
        (tmp_path / name).mkdir()
    found = faults.damage_logs(tmp_path / "heads", 20, seed=1)
    assert (found.verified, found.accounted, found.opened, found.overspent) == (21, 21, 21, 0)
    with pytest.warns(UserWarning, match="before heads were kept"):
        twin = faults.damage_logs(tmp_path / "none", 5, seed=1, with_head=False)
    assert (twin.verified, twin.overspent) == (0, 6)


STOPS = {"before the commit": -5, "after the commit": 0, "after the log": 1, "after the head is written": 2, "after its sync": 3}


@pytest.mark.parametrize("stop", STOPS)
def test_a_writer_killed_at_any_point_leaves_a_ledger_that_opens(tmp_path: Path, faults: ModuleType, stop: str) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="1") as ledger:
        ledger.append(faults.a_release("acknowledged"))

    def die_there() -> None:
        writer, real = open_ledger(path), os.fdatasync
        entries, steps = writer._entries, [0]

        def sync(handle: int) -> None:
            if STOPS[stop] == 2 * steps[0]:
                os.kill(os.getpid(), 9)
            real(handle)
            steps[0] += 1
            if STOPS[stop] == 2 * steps[0] - 1:
                os.kill(os.getpid(), 9)

        os.fdatasync = sync
        if stop == "before the commit":
            entries.write = lambda *_: os.kill(os.getpid(), 9)  # type: ignore[method-assign]
        writer.append(faults.a_release("perhaps"))
        os.kill(os.getpid(), 9)

    assert not faults.ended_well(faults.in_child(die_there))
    acknowledged = HeadFile(head_path(path), readonly=True)
    assert acknowledged.read()[0] == 3 + (STOPS[stop] >= 2)
    acknowledged.close()
    assert verify(path).releases == 1 + (stop != "before the commit")
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("after"))
        assert ledger.spent()[0] * 100 == 2 + (stop != "before the commit")


def test_a_copy_with_its_head_shows_against_a_checkpoint(tmp_path: Path, faults: ModuleType) -> None:
    path, copy = tmp_path / "a.ledger", tmp_path / "copy"
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("early"))
    copy.mkdir()
    for name in ("a.ledger", "a.ledger.head"):
        shutil.copy(tmp_path / name, copy)
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("late"))
        mark = checkpoint(ledger, Ed25519PrivateKey.generate())
    assert verify(copy / "a.ledger").releases == 1
    with pytest.raises(TamperedLedger, match="are left"):
        verify(copy / "a.ledger", mark)


def test_a_ledger_put_back_without_its_head_is_refused(tmp_path: Path, faults: ModuleType) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("early"))
    old = path.read_bytes()
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("late"))
    path.write_bytes(old)
    for attempt in (verify, open_ledger, dp.account):
        with pytest.raises(TamperedLedger, match="3 entries were acknowledged, 2 are left"):
            attempt(path)  # type: ignore[operator]
