"""A sum is computed once and kept: later runs release that of other data, which nobody accounts for."""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("unproven", "DPA002"), "repaired": ("certified", "")}
records_5 = dp.replace_one(n=5, low=-1, high=1)
cache: dict[str, Any] = {}


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_5)
def bug(records: Any, channel: Any) -> Any:
    total = cache.setdefault("sum", records.sum())
    return channel.release("sum", total, dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_5)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Laplace(scale=2), sensitivity=2)
