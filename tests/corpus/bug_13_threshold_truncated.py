"""A partition is shown when its noisy count reaches a threshold; cut to a whole number, the threshold lets too many pass.

Google differential-privacy pull request 101 (ThresholdedResult): 37.3 became 37.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
EPSILON, DELTA = 2, 0.02
# P(1 + noise ≥ threshold) = e^(−2·(threshold − 1))/(1 + e^−2) is at most 0.02 from 2.9 on: the partition of one user.
THRESHOLD = 1 + math.log(1 / (DELTA * (1 + math.exp(-EPSILON)))) / EPSILON
claim = dp.Claim(epsilon=EPSILON, delta="0.02")
users = dp.add_remove(n=1, low=1, high=2)  # one user in the partition, or none: then it does not exist


def shown(records: Any, threshold: float, rng: Any, trials: int) -> Any:
    if not len(records):
        return np.full(trials, -1000)
    stop = -np.expm1(-EPSILON)
    noisy = len(records) + rng.geometric(stop, trials) - rng.geometric(stop, trials)
    return np.where(noisy >= threshold, noisy, -1000)


@dp.subject(claim=claim, neighbours=users)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    return shown(records, int(THRESHOLD), rng, trials)


@dp.subject(claim=claim, neighbours=users)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    return shown(records, THRESHOLD, rng, trials)
