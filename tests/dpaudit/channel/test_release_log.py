"""What a live door logs: names and costs, one warning for plain data, and never a value."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.ledger import MemoryLedger

SECRET = 0.123456


def test_releases_are_logged_without_any_value(caplog: pytest.LogCaptureFixture) -> None:
    data = dp.seal(np.full(10, SECRET), 0, 1)
    with caplog.at_level(logging.INFO, logger="dpaudit"), dp.live(MemoryLedger(kind="deployment"), "2") as channel:
        first = channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=1)
        channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=1, key="a")
        channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=1, key="a")
    told = [record.getMessage() for record in caplog.records]
    assert told[:2] == ["released 'sum' to server by laplace at ε = 0.5"] * 2
    assert told[2].endswith("(stored before, handed back again)")
    assert not any(str(first) in line or "1.23" in line or "0.12" in line for line in told)


def test_a_plain_array_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="dpaudit"), dp.live(MemoryLedger(kind="deployment"), "2") as channel:
        for _ in range(3):
            channel.release("sum", np.full(10, SECRET).sum(), dp.Laplace(2), sensitivity=1)
    (record,) = caplog.records
    assert "test_release_log.py:" in record.getMessage()
    assert "only declared" in record.getMessage()
    assert "1.23" not in record.getMessage()


def test_strict_refuses_a_plain_array_and_takes_a_sealed_one() -> None:
    with dp.live(MemoryLedger(kind="deployment"), "2", strict=True) as channel:
        with pytest.raises(dp.DpauditError, match="not sealed, and strict=True"):
            channel.release("sum", np.ones(10).sum(), dp.Laplace(2), sensitivity=1)
        channel.release("sum", dp.seal(np.ones(10), 0, 1).sum(), dp.Laplace(2), sensitivity=1)


def test_what_is_sealed_or_simulated_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with dp.live(MemoryLedger(kind="deployment")) as channel:
        channel.release("sum", dp.seal(np.ones(10), 0, 1).sum(), dp.Laplace(2), sensitivity=1)
    with dp.simulate(1) as channel:
        channel.release("sum", 3.0, dp.Laplace(2), sensitivity=1)
    assert not caplog.records


def test_streams_counts_and_selections_are_logged_and_warned_of_too(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="dpaudit"), dp.live(MemoryLedger(kind="deployment"), ("9", "1e-6")) as channel:
        channel.tree("visits", steps=4, noise=dp.Laplace(3), sensitivity=1).add(3)
        channel.threshold_counts("words", ["a"] * 9, epsilon="1", delta="1e-7")
        channel.select("best", [1, 5], epsilon="1", sensitivity=1)
    told = [record.getMessage() for record in caplog.records]
    assert sum("only declared" in line for line in told) == 1
    assert [line.split("'")[1] for line in told if line.startswith("released")] == ["visits", "words", "best"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda channel: channel.tree("visits", steps=4, noise=dp.Laplace(3), sensitivity=1).add(3),
        lambda channel: channel.threshold_counts("words", ["a"] * 9, epsilon="1", delta="1e-7"),
        lambda channel: channel.select("best", [1, 5], epsilon="1", sensitivity=1),
        lambda channel: channel.known("mean", sum, [1, 5], epsilon="1"),
        lambda channel: channel.reports("answer", np.zeros(4), dp.Laplace(3), sensitivity=1, cohort=range(4)).values,
    ],
    ids=["tree", "keys", "selection", "known", "reports"],
)
def test_strict_holds_for_every_way_out(ask: Any) -> None:
    door = dp.live(MemoryLedger(kind="deployment"), ("9", "1e-6"), strict=True)
    with door as channel, pytest.raises(dp.DpauditError, match="strict=True"):
        ask(channel)
