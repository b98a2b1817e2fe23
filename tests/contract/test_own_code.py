"""People who come with their own code: frames, other libraries' mechanisms, budgets per period, doors that refuse plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp

BOUNDS = {"age": (0, 120), "city": ["Paris", "Rome"]}


def test_a_subject_takes_a_frame_and_is_deployed_on_one_of_pandas(tmp_path: Path) -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=10, bounds=BOUNDS))
    def ages(frame: Any, channel: Any) -> Any:
        return channel.release("ages", frame.groupby("city")["age"].sum(), dp.Laplace(scale=240), sensitivity=240)

    assert dp.audit(ages, samples=100, seed=1).verdict == "certified"
    with dp.open_ledger(tmp_path / "today.ledger") as ledger:
        assert len(ages.deploy(ledger)(pd.DataFrame({"age": [30] * 10, "city": ["Rome"] * 10}))) == 2


def test_a_sealed_frame_is_released_at_a_live_door(tmp_path: Path) -> None:
    frame = dp.seal_frame(pd.DataFrame({"age": [30, 40], "city": ["Rome", "Paris"]}), bounds=BOUNDS)
    with dp.open_ledger(tmp_path / "today.ledger") as ledger, dp.live(ledger, "1", proven=True) as channel:
        channel.release("old", frame[frame["age"] > 35]["age"].count(), dp.Laplace(scale=1), sensitivity=1)
    assert dp.account(tmp_path / "today.ledger").epsilon == 1


def test_a_budget_is_per_day_and_a_strict_door_refuses_plain_data(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "days", per="day", budget="1") as ledger, dp.live(ledger, strict=True) as channel:
        channel.release("sum", dp.seal(np.ones(3), 0, 1).sum(), dp.Laplace(scale=1), sensitivity=1)
        with pytest.raises(dp.DpauditError, match="strict=True"):
            channel.release("sum", 3.0, dp.Laplace(scale=1), sensitivity=1)
        with pytest.raises(dp.BudgetExceeded):
            channel.release("sum", dp.seal(np.ones(3), 0, 1).sum(), dp.Laplace(scale=1), sensitivity=1)
    assert len(list((tmp_path / "days").glob("*.ledger"))) == 1


def test_another_librarys_mechanism_is_charged_by_what_it_declares(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "today.ledger") as ledger, dp.live(ledger, ("1", "1e-6")) as channel:
        assert channel.known("count", len, [1, 2, 3], epsilon="1", delta="1e-6") == 3
        with pytest.raises(dp.BudgetExceeded):
            channel.known("count", len, [1, 2, 3], epsilon="0.1")
