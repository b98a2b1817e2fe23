"""The data is clipped, and then the raw data is used.

SmartNoise issue 622 (the covariance matrix).
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", "")}
records_20 = dp.replace_one(n=20, low=-10, high=10)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_20)
def bug(records: Any, channel: Any) -> Any:
    clipped = records.clip(-1, 1)
    assert clipped.shape == records.shape
    return channel.release("sum", records.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_20)
def repaired(records: Any, channel: Any) -> Any:
    clipped = records.clip(-1, 1)
    return channel.release("sum", clipped.sum(), dp.Laplace(scale=2), sensitivity=2)
