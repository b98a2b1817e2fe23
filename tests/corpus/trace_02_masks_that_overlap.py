"""Counts by age group, with groups that share their ends: one record is counted in two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA003"), "repaired": ("certified", ""), "repaired_one_hot": ("certified", "")}
ages_10 = dp.replace_one(n=10, low=0, high=3)
ENDS = [0, 1, 2, 3]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=ages_10)
def bug(ages: Any, channel: Any) -> Any:
    counts = np.stack([((ages >= low) & (ages <= low + 1)).sum() for low in ENDS])
    return channel.release("counts", counts, dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=ages_10)
def repaired(ages: Any, channel: Any) -> Any:
    counts = np.stack([((ages >= low) & (ages < low + 1)).sum() for low in ENDS])
    return channel.release("counts", counts, dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=ages_10)
def repaired_one_hot(ages: Any, channel: Any) -> Any:
    cells = np.floor(ages)[:, None] == np.array(ENDS)
    return channel.release("counts", cells.sum(axis=0), dp.Laplace(scale=2), sensitivity=2)
