"""The good event of Algorithm 1, printed γ, for every T from some T0 on: P(some |error| > γ_i) ≤ 1/T, for all |A_i| and |C_i|.

The noise of a batch has n ≤ |C_i| terms, all coefficients at most c = 2d/q^i, and a width of c(n + L)/ε or more, where
L = log(4|A_i|T²). Two bounds on the probability that it is exceeded, with v = L/n and ℓ = log T:

    union over the actions, Chernoff:   2|A_i|·inf_x (1 − x²)^{−n}e^{−x(n+L)} = e^{−2ℓ + Lψ(v)}/2
    all actions at once, Gamma(n):      P(|z_1| + … + |z_n| > n + L) ≤ e^{−L + Lχ(v)},   χ(v) = log(1 + v)/v

If ψ + χ ≤ 1 − η for all v > 0, one of them is at most T^{−1−η}: otherwise Lψ > (1 − η)ℓ and Lχ > L − (1 + η)ℓ, so that
ψ + χ > 1 − 2ηℓ/L ≥ 1 − η. With 1/(2T²) for the rewards and N ≤ ℓ batches, T·P ≤ ℓ/(2T) + ℓT^{−η}, which falls once ηℓ ≥ 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from proofs_checks.linear_bandits.theorems.regret.good_event_cells import DECADES, proven_cells
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import chernoff, short

LEAST, MOST = 0.2, 20.0  # beyond, by hand


def exponents(v: Any) -> tuple[np.ndarray, np.ndarray]:
    """ψ and χ."""
    at = np.asarray(v, dtype=float)
    return 1 + chernoff(1.0, 1 + at) / at, np.log1p(at) / at


def slack() -> tuple[float, float]:
    """η = inf (1 − ψ − χ) from below, and where.

    vψ and vχ increase in v, so that between neighbours x < y of a grid ψ(v) + χ(v) ≤ (max(0, yψ(y)) + yχ(y))/x. For v ≤ 1/5,
    vψ ≤ ψ(1/5)/5 < −1/10, so ψ + χ < 1/2. For v ≥ 20 take x = 1 − 1/v in Chernoff: vψ ≤ log(v/(2 − 1/v)) + 1/v < log v, so
    ψ + χ < 2·log(21)/20 < 0.31.
    """
    grid = np.geomspace(LEAST, MOST, 20_001)
    psi, chi = exponents(grid)
    sums = (np.maximum(0.0, grid[1:] * psi[1:]) + grid[1:] * chi[1:]) / grid[:-1]
    worst = int(sums.argmax())
    return 1 - float(sums[worst]) - 1e-9, float(grid[worst])


@lru_cache(maxsize=8)
def from_horizon(width: Callable[[Any, Any], Any]) -> tuple[bool, Row]:
    """Is the event proven for every T ≥ 3? From some T0 = 10^k on in closed form, up to 10^34 in cells; with what that rests on.

    Not where the width is less than n + L.
    """
    points = [(n, level) for n in (1, 2, 5, 20, 100, 10**3, 10**4) for level in (4.0, 30.0, 100.0, 1000.0, 4000.0)]
    if any(width(n, level) < n + level for n, level in points):
        return False, {"closed form": "none: the width is below n + L"}
    eta, where = slack()
    logs = {k: k * math.log(10) for k in range(1, 300)}
    first = next(k for k, x in logs.items() if eta * x >= 1 and x * (math.exp(-x) / 2 + math.exp(-eta * x)) <= 1)
    below = proven_cells()
    holds = first <= DECADES and below["proven"] == below["cells"]
    evidence = {
        "for every T ≥ 3": "the lesser of a union over actions and of one bound for all actions, P ≤ 1/T",
        "closed form": f"T·P ≤ ℓ/(2T) + ℓT^-η ≤ 1 for every T ≥ 1e{first}", "η": short(eta), "at v = L/n": short(where),
        f"T = 3, …, 1e{DECADES}": f"{below['proven']} of {below['cells']} cells of log T proven in interval arithmetic",
    }  # fmt: skip
    return holds, evidence
