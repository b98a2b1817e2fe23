"""Refusals are counted beside a ledger: no charge, no entry, nothing about whom or what, and they never stand in the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.claims import BudgetExceeded
from dpaudit.ledger import Charge, Cohort, Ledger, MemoryLedger, open_ledger, verify
from dpaudit.ledger.opening import read_refusals
from dpaudit.ledger.store.refusals import RefusalCounter, Refusals, append_line, read_lines

CANARY = 0.7263514


def refuse(ledger: Ledger, times: int) -> None:
    with dp.live(ledger) as channel:
        for i in range(times):
            with pytest.raises(BudgetExceeded):
                channel.release(f"private-{i}", CANARY, dp.Laplace(scale=1), sensitivity=9, cohort="p-secret")


def test_a_refusal_is_counted_and_leaves_the_record_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with open_ledger(path, budget="1") as ledger:
        head = ledger.head()
        refuse(ledger, 5)
        assert ledger.head() == head
        assert ledger.spent() == (0, 0)
        (found,) = ledger.refusals()
        assert (found.reason, found.count) == ("budget", 5)
    assert sum(each.count for each in read_refusals(path)) == 5
    assert verify(path).size == head.size
    text = (tmp_path / "a.ledger.refused").read_text()
    assert not any(secret in text for secret in ("private", "p-secret", str(CANARY)))


def test_nothing_is_written_where_nothing_is_refused(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "a.ledger", budget="1") as ledger:
        ledger.charge(Charge(Fraction(1), name="x"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ledger", "a.ledger.head"]
    assert read_refusals(tmp_path / "a.ledger") == []


def test_refusals_of_threads_and_of_later_openings_add_up(tmp_path: Path) -> None:
    path, over = tmp_path / "a.ledger", Charge(Fraction(2), cohort=Cohort.all(), name="x")
    for _ in range(2):
        with open_ledger(path, budget="1") as ledger, ThreadPoolExecutor(8) as threads:

            def attempt(_: int, opened: Ledger = ledger) -> bool:
                with pytest.raises(BudgetExceeded):
                    opened.charge(over)
                return True

            assert all(threads.map(attempt, range(40)))
    assert sum(each.count for each in read_refusals(path)) == 80


def test_a_ledger_in_memory_counts_too() -> None:
    ledger = MemoryLedger(budget="1")
    with pytest.raises(BudgetExceeded):
        ledger.charge(Charge(Fraction(2), name="x"))
    assert [each.count for each in ledger.refusals()] == [1]


def test_a_counter_writes_at_once_then_every_ten_seconds_and_by_the_hour() -> None:
    now, written = [3600.0 * 9], list[Refusals]()
    counter = RefusalCounter(written.append, clock=lambda: now[0])
    for step in (0, 1, 1, 9, 3, 3590):
        now[0] += step
        counter.note("budget")
    assert sorted((each.hour[-2:], each.count) for each in written) == [("09", 1), ("09", 1), ("09", 3), ("10", 1)]
    counter.flush()
    assert len(written) == 4


def test_a_full_disk_changes_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, refused: Refusals) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dpaudit.ledger.store.sqlite.entries.append_line", full)
    with open_ledger(tmp_path / "a.ledger", budget="1") as ledger:
        refuse(ledger, 2)
        assert ledger.refusals() == []


def test_lines_that_no_door_writes_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.refused"
    append_line(path, Refusals("2026-01-31T09", "budget", 3))
    with open(path, "ab") as file:
        file.write(b"2026-01-31T09 budget -4\n\xff\x1b[2J\n2026-01-31T09 budget 4\n2026")
    assert read_lines(path) == [Refusals("2026-01-31T09", "budget", 7)]
    assert read_lines(tmp_path / "none") == []
