"""Noise cut to a range: what lies outside the range of one data set names the other. Cutting the output is harmless."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
records_5 = dp.replace_one(n=5, low=0, high=1)


def noise(rng: Any, trials: int) -> Any:
    stop = -np.expm1(-1)
    return rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_5)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    return np.round(records.sum()) + np.clip(noise(rng, trials), -3, 3)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_5)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    return np.clip(np.round(records.sum()) + noise(rng, trials), -3, 8)
