"""The sensitivity of a sum of squares from max(|low|, |low|)² instead of max(|low|, |high|)²: 0, and so is the noise.

diffprivlib issue 105 (the diagonal coefficients of LinearRegression).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("unproven", "")}
LOW, HIGH = 0, 1
records_10 = dp.replace_one(n=10, low=LOW, high=HIGH)


def sum_of_squares(records: Any, sensitivity: int, rng: Any, trials: int) -> Any:
    total = np.round((records**2).sum())
    if sensitivity == 0:
        return np.full(trials, total)
    stop = -np.expm1(-1 / sensitivity)  # integer Laplace noise: the difference of two geometric numbers
    return total + rng.geometric(stop, trials) - rng.geometric(stop, trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_10)
def bug(records: Any, rng: Any, trials: Any) -> Any:
    return sum_of_squares(records, max(abs(LOW), abs(LOW)) ** 2, rng, trials)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=records_10)
def repaired(records: Any, rng: Any, trials: Any) -> Any:
    return sum_of_squares(records, max(abs(LOW), abs(HIGH)) ** 2, rng, trials)
