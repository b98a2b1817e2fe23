"""A running sum keeps the noise of the round before: the difference of two releases is one reward, exactly.

Seen in public implementations that add noise to a cumulative statistic once and then only add rewards to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
rewards_2 = dp.replace_one(n=2, low=-1, high=1)


def noise(rng: Any, trials: int) -> Any:
    """Two-sided geometric, for sums that move by at most 2 and ε = 1/2 for each release."""
    stop = -np.expm1(-1 / 4)
    return rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_2)
def bug(rewards: Any, rng: Any, trials: Any) -> Any:
    rounded = np.round(rewards)
    first = rounded[0] + noise(rng, trials)
    return first, first + rounded[1]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=rewards_2)
def repaired(rewards: Any, rng: Any, trials: Any) -> Any:
    rounded = np.round(rewards)
    return rounded[0] + noise(rng, trials), rounded.sum() + noise(rng, trials)
