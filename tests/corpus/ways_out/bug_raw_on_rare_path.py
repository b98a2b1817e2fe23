"""Raw data is returned where the released value is very large, which no ordinary run of an audit meets."""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {
    "bug": ("unproven", "DPA002"),
    "bug_small": ("unproven", "DPA002"),
    "bug_converted": ("unproven", "DPA002"),
    "bug_in_a_closure": ("unproven", "DPA002"),
    "repaired": ("certified", ""),
}
ten = dp.replace_one(n=10, low=0, high=1)
claim = dp.Claim(epsilon="1")


def noisy(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def bug(records: Any, channel: Any) -> Any:
    total = noisy(records, channel)
    return records.sum() if total > 500 else total


@dp.subject(claim=claim, neighbours=ten)
def bug_small(records: Any, channel: Any) -> Any:
    total = noisy(records, channel)
    return (total, [None, records[0]]) if total < -60 else (total, [])


@dp.subject(claim=claim, neighbours=ten)
def bug_converted(records: Any, channel: Any) -> Any:
    total = noisy(records, channel)
    return float(records.max()) if total > 90 else total


@dp.subject(claim=claim, neighbours=ten)
def bug_in_a_closure(records: Any, channel: Any) -> Any:
    total = noisy(records, channel)
    return total if total < 1000 else {"again": lambda: records.sum()}


@dp.subject(claim=claim, neighbours=ten)
def repaired(records: Any, channel: Any) -> Any:
    total = noisy(records, channel)
    return 500.0 if total > 500 else total
