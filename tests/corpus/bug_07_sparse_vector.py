"""Sparse vector: queries without noise, or no limit to how many are answered.

Lyu, Su, Li, "Understanding the sparse vector technique for differential privacy", 2017: Algorithms 5 and 6; Algorithm 1 is the
correct one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp

EXPECTED = {"bug": ("refuted", "DPA004"), "bug_without_limit": ("refuted", "DPA004"), "repaired": ("unproven", "")}
QUERIES = 10
# Each query counts some of the records: one record more or less moves each by at most 1, up or down.
pairs = [(np.zeros(QUERIES), np.where(np.arange(QUERIES) < QUERIES // 2, 1, -1))]


def laplace(rng: Any, epsilon: float, *shape: int) -> Any:
    stop = -np.expm1(-epsilon)
    return rng.geometric(stop, shape) - rng.geometric(stop, shape)


def first_only(above: Any) -> Any:
    """Answers after the first "above" are not given: −1."""
    return np.where(np.cumsum(above, axis=1) - above > 0, -1, above)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=pairs)
def bug(queries: Any, rng: Any, trials: Any) -> Any:
    threshold = laplace(rng, 1 / 2, trials, 1)
    return (queries >= threshold).astype(int)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=pairs)
def bug_without_limit(queries: Any, rng: Any, trials: Any) -> Any:
    threshold = laplace(rng, 1 / 2, trials, 1)
    return (queries + laplace(rng, 1 / 2, trials, QUERIES) >= threshold).astype(int)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=pairs)
def repaired(queries: Any, rng: Any, trials: Any) -> Any:
    threshold = laplace(rng, 1 / 2, trials, 1)
    noisy = queries + laplace(rng, 1 / 4, trials, QUERIES)
    return first_only((noisy >= threshold).astype(int))
