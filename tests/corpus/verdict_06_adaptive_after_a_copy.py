"""A released value decides how many releases follow, after a copy or behind a type check that a probe does not notice."""

from __future__ import annotations

import copy
from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "bug_plain_number": ("refuted", "DPA004"), "repaired": ("certified", "")}
claim = dp.Claim(epsilon="1")
records_10 = dp.replace_one(n=10, low=0, high=1)


def release(records: Any, channel: Any, name: str) -> Any:
    return channel.release(name, records.sum(), dp.Laplace(scale=2), sensitivity=1)


@dp.subject(claim=claim, neighbours=records_10)
def bug(records: Any, channel: Any) -> Any:
    first = release(records, channel, "first")
    large = float(copy.deepcopy(first)) > 5
    return [release(records, channel, f"more {k}") for k in range(10)] if large else first


@dp.subject(claim=claim, neighbours=records_10)
def bug_plain_number(records: Any, channel: Any) -> Any:
    first = release(records, channel, "first")
    large = isinstance(first, float) and first > 5
    return [release(records, channel, f"more {k}") for k in range(10)] if large else first


@dp.subject(claim=claim, neighbours=records_10)
def repaired(records: Any, channel: Any) -> Any:
    first = release(records, channel, "first")
    return release(records, channel, "second") if float(copy.deepcopy(first)) > 5 else first
