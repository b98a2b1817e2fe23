"""One noise for two releases: their difference is exact.

Forked workers with one module-level generator do this; so does a cached noise array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
records_10 = dp.replace_one(n=10, low=0, high=1)


def noise(rng: Any, trials: int) -> Any:
    stop = -np.expm1(-1)
    return rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_10)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    shared = noise(rng, trials)
    return np.round(records[:5].sum()) + shared, np.round(records[5:].sum()) + shared


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_10)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    return np.round(records[:5].sum()) + noise(rng, trials), np.round(records[5:].sum()) + noise(rng, trials)
