"""Two releases from one sample, each charged as if it had a sample of its own.

OpenDP issue 2933.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
RATE = 0.1
claim = dp.Claim(epsilon="0.9882")  # 2·ln(1 + 0.1·(e² − 1)): twice ε = 2, each on a sample of one record in ten
records_5 = dp.add_remove(n=5, low=0, high=1)


def sample(records: Any, rng: Any, trials: int) -> Any:
    return np.where(rng.random((trials, len(records))) < RATE, records, 0)


def noisy_count(sampled: Any, rng: Any) -> Any:
    stop = -np.expm1(-2)
    return np.round(sampled).sum(axis=1) + rng.geometric(stop, len(sampled)) - rng.geometric(stop, len(sampled))


@dp.subject(claim=claim, neighbours=records_5)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    sampled = sample(records, rng, trials)
    return noisy_count(sampled, rng), noisy_count(sampled, rng)


@dp.subject(claim=claim, neighbours=records_5)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    return noisy_count(sample(records, rng, trials), rng), noisy_count(sample(records, rng, trials), rng)
