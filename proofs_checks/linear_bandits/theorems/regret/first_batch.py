"""Batch 1 of Algorithms 2 and 3 throws the optimum out, at every T from some T0 on more often than 1/T.

d = 1, A = {1, −1}, C_1 = {1}, rewards without noise, θ = ½: θ̂ = ½ + (z_1 + … + z_n)/n, and 1 leaves when θ̂ < −γ_1. That costs a
gap of 1 in all of the T − n_1 rounds that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_checks.linear_bandits.lemmas.local import Width
from proofs_checks.linear_bandits.theorems.regret.models import Order
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import MP, digits, short, tail

Budgets = Callable[[Any], tuple[Any, Any]]  # T → (ε, ε0 of batch 1)
DECADES = (6, 9, 12, 15, 20, 30, 60, 90)


def first_batch(horizon: Any, epsilon0: Any, width: Width, scale: int) -> tuple[Any, int, Any]:
    """P(batch 1 throws the optimum out), n_1 and γ_1. Exact: the tail of a sum of n Laplace noises."""
    q, deep = (2 * horizon) ** (1 / MP.log(horizon)), MP.log(8 * horizon**2)
    n = int(MP.ceil(q))
    gamma = MP.sqrt(4 * deep / q) + scale / MP.mpf(epsilon0) * width(1, q, n, deep)
    return tail(n, n * (gamma + MP.mpf(1) / 2) * epsilon0 / scale), n, gamma


def losses(order: Order, budget: Budgets, width: Width, scale: int) -> list[Row]:
    """For growing T: the probability of losing the optimum in batch 1, and the regret T − n_1 (gap 1) that it costs."""
    rows: list[Row] = []
    for decade in DECADES:
        horizon = MP.mpf(10) ** decade
        epsilon, epsilon0 = budget(horizon)
        chance, n, gamma = first_batch(horizon, epsilon0, width, scale)
        over = (horizon - n) / order(horizon, epsilon)
        rows.append({
            "T": f"1e{decade}", "ε0": short(epsilon0), "n_1": n, "γ_1": short(gamma), "P(optimum lost)": digits(chance),
            "P·T": short(chance * horizon), "T − n_1 over the claim": short(over), "E[R]/claim ≥": short(chance * over),
        })  # fmt: skip
    return rows


def for_all(order: Order, budget: Budgets, width: Width, scale: int) -> Row | None:
    """T0 = 10^k from which P·T > 1 for every T, in closed form, and the claim is at most T^{3/4}; None if the steps fail.

    For T ≥ 10^4, e < q < 3, so n_1 = 3, and P ≥ e^{−t}/2 with t = 3ε0(√(4L/q) + ½)/scale + 3·width, L = log(8T²). If
    width ≤ (2/e)√(3L), as printed, and ε0 does not grow, t ≤ a√L + b with a = 6(ε0/(scale·√e) + √3/e), b = 3ε0/(2·scale), and
    log(P·T) ≥ log T − a√L − b − log 2, which grows in T once L > a².
    """
    for decade in range(4, 91):
        log = decade * MP.log(10)
        deep, (_, epsilon0) = 2 * log + MP.log(8), budget(MP.exp(log))
        a = 6 * (epsilon0 / (scale * MP.sqrt(MP.e)) + MP.sqrt(3) / MP.e)
        excess = log - a * MP.sqrt(deep) - 3 * epsilon0 / (2 * scale) - MP.log(2)
        if excess > 0 and deep > a**2:
            break
    else:
        return None
    later = [MP.mpf(10) ** k for k in (decade, *range(decade + 1, 281, 9))]
    for horizon in later:
        q, deep = (2 * horizon) ** (1 / MP.log(horizon)), MP.log(8 * horizon**2)
        epsilon, now = budget(horizon)
        if width(1, q, 3, deep) > 2 / MP.e * MP.sqrt(3 * deep) or now > epsilon0 or order(horizon, epsilon) > horizon**0.75:
            return None
    rest = 3 * epsilon0 / (2 * scale) + MP.log(2)
    return {"T0": f"1e{decade}", "log(P·T) ≥": f"log T − {digits(a, 6)}·√log(8T²) − {digits(rest, 6)}",
            "the claim": f"at most T^(3/4) at T = 1e{decade}, …, 1e280: T − n_1 exceeds every C times it"}  # fmt: skip
