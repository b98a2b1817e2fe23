"""One release in a hundred without noise: a retry after an error, a forgotten branch."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
claim = dp.Claim(epsilon="0.05")
records_5 = dp.replace_one(n=5, low=0, high=1)


def noisy(records: Any, rng: Any, trials: int) -> Any:
    stop = -np.expm1(-0.05)
    return np.round(records.sum()) + rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=claim, neighbours=records_5)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    return np.where(rng.random(trials) < 0.01, np.round(records.sum()), noisy(records, rng, trials))


@dp.subject(claim=claim, neighbours=records_5)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    return noisy(records, rng, trials)
