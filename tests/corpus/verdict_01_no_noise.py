"""No noise at all, or far too little, under a claim with a small δ: a lower bound that collapses there says nothing of either."""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "bug_little_noise": ("refuted", "DPA004"), "repaired": ("certified", "")}
claim = dp.Claim(epsilon="1", delta="1e-5")
records_5 = dp.replace_one(n=5, low=0, high=1)


@dp.subject(claim=claim, neighbours=records_5)
def bug(records: Any, rng: Any) -> Any:
    return float(records.sum())


@dp.subject(claim=claim, neighbours=records_5)
def bug_little_noise(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Gaussian(sigma=0.25), sensitivity=1)


@dp.subject(claim=claim, neighbours=records_5)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Gaussian(sigma=5), sensitivity=1)
