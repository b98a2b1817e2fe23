"""Amplification by Poisson sampling is claimed, but the batches are the records in their order.

Opacus issue 80.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
RATE = 0.1
claim = dp.Claim(epsilon="0.1586")  # ln(1 + 0.1·(e − 1)): ε = 1 on a sample of one record in ten
records_20 = dp.add_remove(n=20, low=0, high=1)


def noisy_count(sampled: Any, rng: Any, trials: int) -> Any:
    stop = -np.expm1(-1)
    return np.round(sampled).sum(axis=-1) + rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=claim, neighbours=records_20)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    batches = np.array_split(records, round(1 / RATE))
    return noisy_count(batches[0], rng, trials), noisy_count(batches[-1], rng, trials)


@dp.subject(claim=claim, neighbours=records_20)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    taken = rng.random((trials, len(records))) < RATE
    return noisy_count(np.where(taken, records, 0), rng, trials)
