"""Sparse vector that returns the noisy number it compared, or whose noise does not grow with how often it may say "above".

Lyu, Su, Li, "Understanding the sparse vector technique for differential privacy", 2017: Algorithms 3 and 4 (5 and 6: bug_07).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "bug_without_factor": ("refuted", "DPA004"), "repaired": ("certified", "")}
QUERIES, ABOVE = 12, 6


def laplace(rng: Any, epsilon: float, *shape: int) -> Any:
    stop = -np.expm1(-epsilon)
    return rng.geometric(stop, shape) - rng.geometric(stop, shape)


# All but the last query rise by 1, and the last falls by 1.
first_pairs = [(np.append(np.zeros(QUERIES), 1), np.append(np.ones(QUERIES), 0))]


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=first_pairs)
def bug(queries: Any, rng: Any, trials: Any) -> Any:
    """Algorithm 3: the number that passed is returned with the noise that it was compared with."""
    threshold = laplace(rng, 1 / 2, trials, 1)
    noisy = queries + laplace(rng, 1 / 2, trials, QUERIES + 1)
    above = noisy >= threshold
    first = above.argmax(axis=1)
    some = above.any(axis=1)
    return np.where(some, first, -1), np.where(some, noisy[np.arange(trials), first], 0)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=[(np.zeros(QUERIES), np.where(np.arange(QUERIES) < ABOVE, -1, 1))])
def bug_without_factor(queries: Any, rng: Any, trials: Any) -> Any:
    """Algorithm 4: noise of scale Δ/ε2 for each query, whatever the number of answers "above" is."""
    threshold = laplace(rng, 1 / 4, trials, 1)
    above = queries + laplace(rng, 3 / 4, trials, QUERIES) >= threshold
    return np.where(np.cumsum(above, axis=1) - above >= ABOVE, -1, above)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=8, low=0, high=3))
def repaired(records: Any, channel: Any) -> Any:
    gate = channel.above("crowded", epsilon="1", sensitivity=1, threshold=4, positives=2)
    return [gate.ask((records == value).sum()) for value in range(3) if gate.positives_left]
