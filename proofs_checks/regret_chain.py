"""The chain that all three regret proofs share, with explicit constants: R_T ≤ Σ_{i ≤ N+1} n_i·min(2, 4γ_{i−1}), γ_0 = ∞.

It holds on the good event when the maximum is over A_i and the N batches are the most that fit: batch i plays gaps of at most
4γ_{i−1}, n_i ≤ q^i + |C_i|, the remaining rounds are fewer than a batch N + 1 would take. The net adds 1.
|C_i| = 4d, K = (3T)^d + d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proofs_checks.decisions import Row
from proofs_checks.laplace_tails import short

Noise = Callable[
    [int, np.ndarray, np.ndarray, float], np.ndarray
]  # (d, q^i, n_i, L), for all i → the part of γ_i that pays for the noise
DECADES = (4, 6, 9, 12, 20, *range(40, 281, 20))
PHASES = tuple(math.exp(j / 32) for j in range(32))  # how well the batches fit depends on the fraction of log T: take the worst
SUPPORT = 4  # |C_i| ≤ 4d


@dataclass(frozen=True)
class Budget:
    """ε = factor·T^-power: a bound with a constant that depends on neither ε nor T holds along every such line."""

    factor: float
    power: float

    def at(self, horizon: float) -> float:
        return float(self.factor * horizon**-self.power)

    def __str__(self) -> str:
        return f"ε = {self.factor:g}·T^-{self.power:g}" if self.power else f"ε = {self.factor:g}"


def level(horizon: float, d: int) -> float:
    """log(4KT²)."""
    return math.log(4) + d * math.log(3 * horizon) + math.log1p(d * (3 * horizon) ** -d) + 2 * math.log(horizon)


def chain(horizon: float, d: int, noise: Noise) -> float:
    """The right-hand side, for γ_i = √(4dL/q^i) + noise."""
    growth, size, deep = (2 * horizon) ** (1 / math.log(horizon)), SUPPORT * d, level(horizon, d)
    powers = growth ** np.arange(1, math.ceil(math.log(horizon)) + 2)
    powers = powers[: int(np.searchsorted(powers.cumsum(), horizon, side="right")) + 1]  # N batches, and the rest
    gammas = np.sqrt(4 * d * deep / powers[:-1]) + noise(d, powers[:-1], powers[:-1] + size, deep)
    gaps = np.minimum(2.0, 4 * np.concatenate([[np.inf], gammas]))
    return min(1.0 + float(((powers + size) * gaps).sum()), 2 * horizon)


def constants(
    claimed: Callable[[float, Any], float], noise: Callable[[float, Any], Noise], settings: Iterable[Any], dims: Sequence[int]
) -> list[Row]:
    """For each d and setting (how ε depends on T): the constant C that the chain needs, and how it moves with T.

    "slope" is that of log C in log T between the largest horizons: at most 0 when the order is right.
    """
    rows: list[Row] = []
    for setting in settings:
        for d in dims:
            needed = []
            for decade in DECADES:
                horizons = [10.0**decade * phase for phase in PHASES]
                needed.append(max(chain(horizon, d, noise(horizon, setting)) / claimed(horizon, setting) for horizon in horizons))
            slopes = np.diff(np.log(needed)) / np.log(10.0 ** np.diff(DECADES))
            row = {
                "setting": str(setting),
                "d": d,
                "C needed": short(max(needed)),
                "at T": f"1e{DECADES[int(np.argmax(needed))]}",
            }
            rows.append(
                {
                    **row,
                    "C at T = 1e280": short(needed[-1]),
                    "slope from": short(slopes[-6:].min(), 3),
                    "to": short(slopes[-6:].max(), 3),
                }
            )
    return rows


def grows(rows: Sequence[Row], most: float = 0.0005) -> list[Row]:
    """Where the constant still grows as a power of T at the largest horizons: the order is wrong."""
    return [row for row in rows if row["to"] > most]
