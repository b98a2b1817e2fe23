"""The mean with noise for Δ = 1/n costs exactly ε. With Δ of all records, the mean of half of them costs twice that."""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", ""), "repaired_half": ("certified", "")}
claim = dp.Claim(epsilon="1")
N = 14
records_14 = dp.replace_one(n=N, low=0, high=1)


@dp.subject(claim=claim, neighbours=records_14)
def bug(records: Any, channel: Any) -> Any:
    return channel.release("mean", records[: N // 2].mean(), dp.Laplace(scale=1 / N), sensitivity=1 / N)


@dp.subject(claim=claim, neighbours=records_14)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("mean", records.mean(), dp.Laplace(scale=1 / N), sensitivity=1 / N)


@dp.subject(claim=claim, neighbours=records_14)
def repaired_half(records: Any, channel: Any) -> Any:
    return channel.release("mean", records[: N // 2].mean(), dp.Laplace(scale=2 / N), sensitivity=2 / N)
