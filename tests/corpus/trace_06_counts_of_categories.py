"""Counts of categories are calibrated for one count: a record that changes its answer leaves one and joins another."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {
    "bug": ("refuted", "DPA003"),
    "bug_of_numbers": ("refuted", "DPA003"),
    "repaired": ("certified", ""),
    "repaired_of_numbers": ("certified", ""),
}
answers = dp.replace_one(n=8, values=["yes", "no", "none"])
numbers = dp.replace_one(n=8, values=[0, 1, 2])
claim = dp.Claim(epsilon="1")


@dp.subject(claim=claim, neighbours=answers)
def bug(records: Any, channel: Any) -> Any:
    counts = [records.count(answer) for answer in ("yes", "no", "none")]
    return channel.release("counts", counts, dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=claim, neighbours=numbers)
def bug_of_numbers(records: Any, channel: Any) -> Any:
    return channel.release("counts", np.bincount(records, minlength=3), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=claim, neighbours=answers)
def repaired(records: Any, channel: Any) -> Any:
    counts = [records.count(answer) for answer in ("yes", "no", "none")]
    return channel.release("counts", counts, dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=claim, neighbours=numbers)
def repaired_of_numbers(records: Any, channel: Any) -> Any:
    return channel.release("counts", np.bincount(records, minlength=3), dp.Laplace(scale=2), sensitivity=2)
