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
from typing import Any

import numpy as np
from scipy.special import gammaincc

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


def failing(decade: int) -> float:
    """T·P at most at T = 10^decade: the largest over |A_i| = 1, …, (3T)^20 and n = 1, …, 10^5, on a grid."""
    log = decade * math.log(10)
    sizes = np.linspace(0.0, 20 * (log + math.log(3)), 60)[:, None]  # log |A_i|
    n = np.unique(np.round(np.geomspace(1, 1e5, 120)))[None, :]
    level = math.log(4) + sizes + 2 * log
    with np.errstate(under="ignore"):
        noise = np.minimum(np.exp(math.log(2) + sizes + chernoff(n, n + level)), gammaincc(n, n + level))
    return log * (math.exp(-log) / 2 + math.exp(log) * float(noise.max()))


def from_horizon(width: Callable[[Any, Any], Any]) -> tuple[bool, Row]:
    """Is the event proven from some T0 = 10^k on, and at T = 100, 1000, … up to there? With what that rests on.

    Not where the width is less than n + L.
    """
    points = [(n, level) for n in (1, 2, 5, 20, 100, 10**3, 10**4) for level in (4.0, 30.0, 100.0, 1000.0, 4000.0)]
    if any(width(n, level) < n + level for n, level in points):
        return False, {"closed form": "none: the width is below n + L"}
    eta, where = slack()
    logs = {k: k * math.log(10) for k in range(1, 300)}
    first = next(k for k, x in logs.items() if eta * x >= 1 and x * (math.exp(-x) / 2 + math.exp(-eta * x)) <= 1)
    worst = max((failing(k), k) for k in range(2, first + 1))
    evidence = {
        "closed form": f"T·P ≤ ℓ/(2T) + ℓT^-η ≤ 1 for every T ≥ 1e{first}", "η": short(eta), "at v = L/n": short(where),
        f"largest T·P bound at T = 100, …, 1e{first}": short(worst[0]), "there T": f"1e{worst[1]}",
    }  # fmt: skip
    return worst[0] <= 1, evidence
