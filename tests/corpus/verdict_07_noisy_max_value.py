"""Report noisy max that also returns the noisy maximum, at the price of the index alone.

Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Claim 3.9: the index of the largest noisy count is
ε-DP however many there are. The value of the maximum tells of all of them: it is another release.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "repaired": ("certified", "")}
CANDIDATES = 20
# One record is counted by every candidate: without it, each count is 1 lower.
pairs = [(np.zeros(CANDIDATES), np.full(CANDIDATES, -1.0))]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=pairs)
def bug(counts: Any, rng: Any, trials: Any) -> Any:
    stop = -np.expm1(-1 / 2)  # Laplace noise of scale 2 on whole numbers
    noise = rng.geometric(stop, (trials, CANDIDATES)) - rng.geometric(stop, (trials, CANDIDATES))
    noisy = counts + noise
    return noisy.argmax(axis=1), noisy.max(axis=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=8, low=0, high=3))
def repaired(records: Any, channel: Any) -> Any:
    counts = (records[:, None] == np.arange(4)).sum(axis=0)
    return channel.noisy_max("most", counts, dp.Laplace(scale=2), sensitivity=1)
