"""Windows of a budget: one ledger each, and no clock opens one twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.ledger.periods import FORMS, window_ledger

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


def release(folder: Path) -> None:
    with dp.open_ledger(folder, per="day", budget="1") as ledger, dp.live(ledger) as channel:
        channel.release("sum", 1.0, dp.Laplace(1), sensitivity=1)


def test_a_budget_is_one_per_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = iter([NOON, NOON, NOON + timedelta(days=1), NOON])
    original = window_ledger
    monkeypatch.setattr("dpaudit.ledger.opening.window_ledger", lambda folder, per: original(folder, per, next(days)))
    release(tmp_path)
    with pytest.raises(dp.BudgetExceeded):
        release(tmp_path)
    release(tmp_path)  # the next day
    with pytest.raises(dp.BudgetExceeded):
        release(tmp_path)  # the clock was set back: still the next day, which is spent
    assert sorted(file.name for file in tmp_path.glob("*.ledger")) == ["2026-11-18.ledger", "2026-11-19.ledger"]


@pytest.mark.parametrize("per", FORMS)
def test_later_windows_sort_later(per: str, tmp_path: Path) -> None:
    times = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=6 * k) for k in range(3000)]  # two years, with their odd weeks
    names = [window_ledger(tmp_path / "empty", per, time).name for time in times]
    assert names == sorted(names)


def test_a_window_is_that_of_utc_and_a_clock_that_is_set_back_stays(tmp_path: Path) -> None:
    east = datetime(2026, 11, 19, 1, tzinfo=timezone(timedelta(hours=2)))
    assert window_ledger(tmp_path, "day", east).name == "2026-11-18.ledger"
    (tmp_path / "2026-11-20.ledger").touch()
    assert window_ledger(tmp_path, "day", NOON).name == "2026-11-20.ledger"
    assert window_ledger(tmp_path, "day", NOON + timedelta(days=9)).name == "2026-11-27.ledger"


def test_one_folder_has_one_period(tmp_path: Path) -> None:
    (tmp_path / "2026-11-18.ledger").touch()
    with pytest.raises(InvalidValue, match="a folder of its own"):
        window_ledger(tmp_path, "hour", NOON)
    with pytest.raises(InvalidValue, match="one of hour, day, week, month"):
        window_ledger(tmp_path, "fortnight", NOON)
    with pytest.raises(InvalidValue, match="left out for a database"):
        dp.open_ledger("postgresql://nowhere/x", per="day")
