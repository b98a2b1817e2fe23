"""The good event of Algorithm 1, printed γ and noise Lap(1/ε), for every T from 3 to 10^34, all |A_i| and |C_i|: in cells.

Let ℓ = log T, N ≤ ν = ℓ²/(ℓ + log 2) batches, L = log(4|A_i|T²) > 0, n noise terms, a width of n + L or more (in units of c/ε).
A batch fails by its rewards with probability 1/(2T²), by its noise with the lesser of U/(2T²), U = e^L·P(z_1 + … + z_n > n + L),
a union over actions, and G = P(Gamma(n) > n + L), all actions at once. So P(bad) ≤ 1/T once for each n and L

    U ≤ u = 2T/ν − 1      or      G ≤ τ = 1/(νT) − 1/(2T²).

U rises with L (e^{−n} times a polynomial with positive coefficients), G falls: an L_1 with U(L_1) ≤ u, G(L_1) ≤ τ settles all L.
On a cell a ≤ ℓ ≤ b: u ≥ 2e^a/ν(b) − 1 and τ ≥ e^{−b}/ν(b) − e^{−2a}/2. U is bounded by Chernoff; L_1 is found in floats and
verified in balls. Many terms: for L ≤ n·v0 the Chernoff exponent of U is at most 0, beyond G ≤ e^{−n(v0 − log(1 + v0))} ≤ τ.
Below ℓ = 7/5 there is no batch: q > T.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import flint
import numpy as np

from dpaudit.claims.balls import precision
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import chernoff

DECADES = 34
FIRST, LAST = 1.4, DECADES * math.log(10)
FLAT = 0.42  # v0
GROWTH = 1.08  # of ℓ from one cell to the next: the room that is left grows with ℓ, too


def cells() -> list[tuple[float, float]]:
    """They cover log 3, …, 34·log 10: below the first there is no batch."""
    edges = [FIRST]
    while edges[-1] <= LAST:
        edges.append(edges[-1] * GROWTH)
    return list(pairwise(edges))


def proven_cells(narrower: float = 1.0) -> Row:
    """How many cells are proven, and up to how many terms one by one. ``narrower``: a planted width, (n + L)/narrower."""
    with precision(80):
        flat = _flat(narrower)
        done = [_cell(a, b, narrower) for a, b in cells()]
    return {
        "T": "3, …, 10^34", "cells": len(done), "proven": sum(holds for holds, _ in done) if flat else 0,
        "noise terms, one by one": max(count for _, count in done),
    }  # fmt: skip


def _nu(at: Any) -> Any:
    return at * at / (at + flint.arb(2).log())


def _exponent(n: int, level: Any, narrower: float) -> Any:
    """log of inf_x (1 − x²)^−n·e^{−xt} at t = (n + L)/narrower, at its x, as a ball."""
    t = (n + level) / flint.arb(narrower)
    x = ((n * n + t * t).sqrt() - n) / t
    return -n * (1 - x * x).log() - x * t


def _flat(narrower: float) -> bool:
    """Is U's exponent at most 0 for v = v0, and so, as it rises in v, below?"""
    return bool(_exponent(1, flint.arb(FLAT), narrower) + FLAT <= 0)


def _cell(a: float, b: float, narrower: float) -> tuple[bool, int]:
    low, high = flint.arb(a), flint.arb(b)
    target = (2 * low.exp() / _nu(high) - 1).log()
    tau = (-high).exp() / _nu(high) - (-2 * low).exp() / 2
    if not tau > 0:
        return False, 0
    rate = flint.arb(FLAT) - (1 + flint.arb(FLAT)).log()
    count = math.ceil(float((-tau.log() / rate).upper()))  # beyond, G ≤ e^{−n·rate} ≤ τ
    level = _guess(np.arange(1, count + 1, dtype=float), float(target.lower()), narrower)
    for n, each in enumerate(level.tolist(), 1):
        ball = flint.arb(each)
        if not ball + _exponent(n, ball, narrower) <= target:
            return False, count
        if not ((n + ball) / flint.arb(narrower)).gamma_upper(flint.arb(n), 1) <= tau:
            return False, count
    return True, count


def _guess(n: np.ndarray, target: float, narrower: float) -> np.ndarray:
    """For each n an L whose Chernoff bound on U is just below the target, by bisection in floats."""
    low, high = np.zeros_like(n), np.full_like(n, 50 * (target + 10))
    for _ in range(60):
        middle = (low + high) / 2
        fits = middle + chernoff(n, (n + middle) / narrower) <= target - 1e-6
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low
