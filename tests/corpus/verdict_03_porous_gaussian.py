"""Gaussian noise in floating point: outputs with very low bits come from one data set only.

Mironov 2012 for Laplace noise; Jin, McMurtry, Rubinstein, Ohrimenko, "Are we there yet?", 2022, for Gaussian noise.
"""

from __future__ import annotations

from typing import Any

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA006"), "repaired": ("certified", "")}
claim = dp.Claim(epsilon="1", delta="1e-6")
count = dp.replace_one(n=1, low=0, high=1)


@dp.subject(claim=claim, neighbours=count)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    return records.sum() + rng.normal(scale=5, size=trials)


@dp.subject(claim=claim, neighbours=count)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), dp.Gaussian(sigma=5), sensitivity=1)
