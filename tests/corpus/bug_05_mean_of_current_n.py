"""The sensitivity of a mean from the number of records that happen to be there, though that number is private.

smartnoise-core issue 356.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA002"), "repaired": ("certified", "")}
few_records = dp.add_remove(n=2, low=0, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=few_records)
def bug(records: Any, channel: Any, trials: Any) -> Any:
    n = len(records)
    return channel.release("mean", records.sum() / n, dp.Laplace(scale=1 / n), sensitivity=1 / n)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=few_records)
def repaired(records: Any, channel: Any, trials: Any) -> Any:
    total = channel.release("sum", records.sum(), dp.Laplace(scale=2), sensitivity=1)
    count = channel.release("count", (0 * records + 1).sum(), dp.Laplace(scale=2), sensitivity=1)
    return total, count
