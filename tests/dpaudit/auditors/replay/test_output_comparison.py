"""Text that differs between neighbours while every released value is the same is a finding that shows none of it."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.replay.output_comparison import compare_outputs

TEN = dp.replace_one(n=10, low=0, high=1)
PAIRS = TEN.pairs(np.random.default_rng(1))
COUNTER = itertools.count()


def compare(write: Any) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        total = channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)
        write(data, total)
        return total

    return compare_outputs(dp.subject(claim=dp.Claim("1"), neighbours=TEN)(mechanism), PAIRS, 1)


@pytest.mark.parametrize(
    ("write", "way"),
    [
        (lambda data, _: print(data.sum()), "stdout"),
        (lambda data, _: logging.getLogger("a").info("%s", data.sum()), "a log"),
        (lambda data, _: print("high") if data.sum() > 0.5 else None, "stdout"),
        (lambda data, total: print(data.sum()) if total > 0 else None, "stdout"),
    ],
)
def test_text_that_the_data_decides_is_found_and_not_shown(write: Any, way: str) -> None:
    found = compare(write)
    assert found is not None
    assert found.rule == "DPA002"
    assert f"written to {way} " in found.message
    assert "high" not in found.message
    assert not any(character.isdigit() for character in found.message)


@pytest.mark.parametrize(
    "write",
    [
        lambda data, total: print("sum", total),
        lambda data, _: logging.warning("%d records", len(data)),
        lambda data, _: print(object()),
        lambda data, _: print("call", next(COUNTER)),  # unsteady on equal data too: nothing to compare
        lambda data, _: 1 / 0,
    ],
)
def test_text_that_the_data_does_not_decide_is_none(write: Any) -> None:
    assert compare(write) is None
