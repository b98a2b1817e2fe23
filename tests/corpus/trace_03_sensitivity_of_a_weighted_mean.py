"""A weighted mean with the sensitivity of an equal one: the record with the largest weight moves it further."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", ""), "repaired_equal": ("certified", "")}
records_3 = dp.replace_one(n=3, low=-1, high=1)
WEIGHTS = [1, 2, 3]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_3)
def bug(records: Any, channel: Any) -> Any:
    return channel.release("mean", np.average(records, weights=WEIGHTS), dp.Laplace(scale=2 / 3), sensitivity=2 / 3)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_3)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("mean", np.average(records, weights=WEIGHTS), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_3)
def repaired_equal(records: Any, channel: Any) -> Any:
    return channel.release("mean", records.mean(), dp.Laplace(scale=2 / 3), sensitivity=2 / 3)
