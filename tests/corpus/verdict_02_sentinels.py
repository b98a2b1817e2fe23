"""None or NaN instead of a number, decided by the data: whoever receives it knows on which side of the limit the data was."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {
    "bug": ("refuted", "DPA004"),
    "bug_nan": ("refuted", "DPA004"),
    "repaired": ("unproven", ""),
    "repaired_nan": ("unproven", ""),
}
claim = dp.Claim(epsilon="1")
records_5 = dp.replace_one(n=5, low=0, high=1)
ENOUGH = 5


def noisy(records: Any, rng: Any, trials: Any = None) -> Any:
    stop = -np.expm1(-1)
    return np.round(records.sum()) + rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=claim, neighbours=records_5)
def bug(records: Any, rng: Any) -> Any:
    return noisy(records, rng) if np.round(records.sum()) >= ENOUGH else None


@dp.subject(claim=claim, neighbours=records_5)
def bug_nan(records: Any, rng: Any, trials: Any) -> Any:
    return noisy(records, rng, trials) if np.round(records.sum()) >= ENOUGH else np.full(trials, np.nan)


@dp.subject(claim=claim, neighbours=records_5)
def repaired(records: Any, rng: Any) -> Any:
    number = noisy(records, rng)
    return number if number >= ENOUGH else None


@dp.subject(claim=claim, neighbours=records_5)
def repaired_nan(records: Any, rng: Any, trials: Any) -> Any:
    numbers = noisy(records, rng, trials)
    return np.where(numbers >= ENOUGH, numbers, np.nan)
