"""NaN survives clamping, every comparison with it being false: one record makes the whole sum NaN.

Google differential-privacy pull request 405.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("unproven", "")}
ones = np.ones(20)
pairs = [(ones, np.where(np.arange(20) == 3, value, ones)) for value in (np.nan, np.inf, -7.0)]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=pairs)
def bug(records: Any, channel: Any) -> Any:
    clamped = np.where(records < 0, 0, np.where(records > 1, 1, records))
    return channel.release("sum", clamped.sum(), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=pairs)
def repaired(records: Any, channel: Any) -> Any:
    known = np.where(np.isnan(records), 0, records)
    clamped = np.where(known < 0, 0, np.where(known > 1, 1, known))
    return channel.release("sum", clamped.sum(), dp.Laplace(scale=1), sensitivity=1)
