"""Processes commit while another one waits for the disk, and one sync then serves all of them."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit.ledger import Charge, open_ledger
from dpaudit.ledger.store.sqlite.head_file import HeadFile, head_path


def test_others_commit_while_one_syncs_and_one_sync_serves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four ledger objects stand for four processes: their locks exclude each other alike. The first is held in its sync."""
    path = tmp_path / "a.ledger"
    open_ledger(path, budget="100").close()
    ledgers = [open_ledger(path) for _ in range(4)]
    really, inside, go_on, syncs = os.fdatasync, threading.Event(), threading.Event(), []

    def sync(handle: int) -> None:
        syncs.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        inside.set()
        assert go_on.wait(60)
        really(handle)

    monkeypatch.setattr(os, "fdatasync", sync)
    spend = [threading.Thread(target=each.charge, args=(Charge(Fraction(1), name="x"),)) for each in ledgers]
    spend[0].start()
    assert inside.wait(60)
    before = ledgers[0]._entries.sealed()[0]
    for thread in spend[1:]:
        thread.start()
    with open_ledger(path, readonly=True) as reader:
        for _ in range(6000):
            if int(reader.spent()[0]) == 4:
                break
            threading.Event().wait(0.01)
        assert int(reader.spent()[0]) == 4  # all are committed, and none was handed out
    assert all(thread.is_alive() for thread in spend)
    go_on.set()
    for thread in spend:
        thread.join(60)
    assert syncs == ["a.ledger-wal", "a.ledger.head"] * 2
    head = HeadFile(head_path(path), readonly=True)
    assert head.read()[0] == before + 3
    head.close()
    for each in ledgers:
        each.close()
