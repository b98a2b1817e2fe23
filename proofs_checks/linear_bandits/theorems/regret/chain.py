"""The chain that all three regret proofs share, summed up in closed form: for every T ≥ 3, every ε and every d.

On the good event, with the maximum over A_i and N batches, the most that fit: R_T ≤ 1 + Σ_{i≤N+1} n_i·min(2, 4γ_{i−1}), γ_0 = ∞.
Batch i plays gaps of at most 4γ_{i−1}, n_i ≤ q^i + |C_i|, the rest is shorter than a batch N + 1 would be, the net adds 1.
Let S ≥ |C_i|, ℓ = log T ≥ 1, K = (3T)^d + d, L = log(4KT²), γ_i = √(4dL/q^i) + noise_i, and suppose that
noise_i ≤ u/√q^i + v/q^i + w/√q^i³ whenever q^i ≥ Q. Then, as e ≤ q ≤ e² and q^N ≤ Σ n_i ≤ T:

    N ≤ ℓ;   L ≤ (21d/10 + 7/2)ℓ;   Σ_{2≤i≤N+1} q^{(i+1)/2} ≤ q·q^{N/2}/(1 − q^{−1/2}) ≤ e²√T/(1 − e^{−1/2});
    R_T ≤ 1 + 4Sℓ + 2e²Q/(1 − 1/e) + 4(√(4dL) + u)e²√T/(1 − e^{−1/2}) + 4e²vℓ + 4e²w/(√e − 1).

The first batches, up to the one after q^i < Q, cost 2 per round; |C_i| pulls more cost 2 each in N + 1 ≤ 2ℓ batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import linregress
from scipy.stats import t as student

from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import short

Noise = Callable[
    [int, np.ndarray, np.ndarray, float], np.ndarray
]  # (d, q^i, n_i, L), for all i → the part of γ_i that pays for the noise
DECADES = (4, 6, 9, 12, 20, *range(40, 281, 20))
PHASES = tuple(math.exp(j / 32) for j in range(32))  # how well the batches fit depends on the fraction of log T: take the worst
SMALL = tuple(float(horizon) for horizon in (*range(3, 60), 10**2, 10**3))
SUPPORT = 4  # |C_i| ≤ 4d
E2, HALF, WHOLE, ROOT = math.e**2, 1 - math.exp(-0.5), 1 - 1 / math.e, math.sqrt(math.e) - 1
STEPS = (
    "e ≤ q ≤ e²", "L ≤ (21d/10 + 7/2)ℓ", "N ≤ ℓ", "q^N ≤ T", "Σ q^((i+1)/2)", "noise ≤ u, v, w", "Σ n_i·min(2, 4γ_{i−1})",
    "closed form ≤ C(d)·order", "order ≤ claim",
)  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """ε = factor·T^-power: a bound with a constant that depends on neither ε nor T holds along every such line."""

    factor: float
    power: float

    def at(self, horizon: float) -> float:
        return float(self.factor * horizon**-self.power)

    def __str__(self) -> str:
        return f"ε = {self.factor:g}·T^-{self.power:g}" if self.power else f"ε = {self.factor:g}"


@dataclass(frozen=True)
class Shape:
    """noise_i ≤ u/√q^i + v/q^i + w/√q^i³ whenever q^i ≥ start."""

    u: float = 0.0
    v: float = 0.0
    w: float = 0.0
    start: float = 1.0

    def at(self, powers: np.ndarray) -> np.ndarray:
        root = np.sqrt(powers)
        result: np.ndarray = self.u / root + self.v / powers + self.w / powers / root
        return result


@dataclass(frozen=True)
class Model:
    """What one theorem puts into the chain; ``setting`` says how ε depends on T."""

    order: Callable[[float, Any], float]  # (T, setting) → what the closed form is a multiple of
    claimed: Callable[[float, Any], float]  # (T, setting)
    noise: Callable[[float, Any], Noise]  # (T, setting)
    shape: Callable[[float, Any, int, float], Shape]  # (T, setting, d, L)
    constant: Callable[[int], float]  # C(d), from the closed form


def level(horizon: float, d: int) -> float:
    """log(4KT²)."""
    return math.log(4) + d * math.log(3 * horizon) + math.log1p(d * (3 * horizon) ** -d) + 2 * math.log(horizon)


def level_slope(d: int) -> float:
    """L ≤ (21d/10 + 7/2)ℓ for ℓ ≥ 1: L ≤ (d + 2)ℓ + d·log 3 + log 4 + d(3T)^-d."""
    return 2.1 * d + 3.5


def powers_of(horizon: float) -> np.ndarray:
    """q, …, q^{N+1}: N batches are the most that fit by their q^i (ceilings only make fewer), and the rest."""
    growth = (2 * horizon) ** (1 / math.log(horizon))
    powers = growth ** np.arange(1, math.ceil(math.log(horizon)) + 2)
    return np.asarray(powers[: int(np.searchsorted(powers.cumsum(), horizon, side="right")) + 1])


def chain(horizon: float, d: int, noise: Noise) -> float:
    """The right-hand side, for γ_i = √(4dL/q^i) + noise."""
    size, deep, powers = SUPPORT * d, level(horizon, d), powers_of(horizon)
    gammas = np.sqrt(4 * d * deep / powers[:-1]) + noise(d, powers[:-1], powers[:-1] + size, deep)
    gaps = np.minimum(2.0, 4 * np.concatenate([[np.inf], gammas]))
    return min(1.0 + float(((powers + size) * gaps).sum()), 2 * horizon)


def closed(horizon: float, d: int, shape: Shape) -> float:
    """The closed form at the head of this file."""
    size, log, deep = SUPPORT * d, math.log(horizon), level(horizon, d)
    large = 4 * (math.sqrt(4 * d * deep) + shape.u) * E2 * math.sqrt(horizon) / HALF
    return 1 + 4 * size * log + 2 * E2 * shape.start / WHOLE + large + 4 * E2 * (shape.v * log + shape.w / ROOT)


def ratios(horizon: float, d: int, model: Model, setting: Any) -> tuple[float, ...]:
    """Left over right of every step, in the order of STEPS: at most 1 where it holds."""
    log, deep, powers = math.log(horizon), level(horizon, d), powers_of(horizon)
    growth, batches, shape = float(powers[0]), powers[:-1], model.shape(horizon, setting, d, deep)
    noise, late = model.noise(horizon, setting), batches[batches >= shape.start]
    allowed = noise(d, late, late + SUPPORT * d, deep) / shape.at(late) if len(late) else np.zeros(1)
    bound = closed(horizon, d, shape)
    return (
        max(math.e / growth, growth / E2),
        deep / (level_slope(d) * log),
        len(batches) / log,
        growth ** len(batches) / horizon,
        float((growth ** (np.arange(3, len(powers) + 2) / 2)).sum()) * HALF / (E2 * math.sqrt(horizon)),
        float(allowed.max()),
        chain(horizon, d, noise) / bound,
        bound / (model.constant(d) * model.order(horizon, setting)),
        model.order(horizon, setting) / model.claimed(horizon, setting),
    )


def proven(model: Model, settings: Iterable[Any], dims: Sequence[int]) -> tuple[Row, list[str]]:
    """The largest ratio of every step over the grid, and the steps that fail: above 1 by more than rounding."""
    grid = [*SMALL, *(10.0**decade * phase for decade in DECADES for phase in PHASES[::8])]
    every = np.array([ratios(horizon, d, model, setting) for setting in settings for d in dims for horizon in grid])
    largest = every.max(axis=0)
    return (
        {name: short(value) for name, value in zip(STEPS, largest, strict=True)},
        [name for name, value in zip(STEPS, largest, strict=True) if not value <= 1 + 1e-9],
    )


def constants(model: Model, settings: Iterable[Any], dims: Sequence[int]) -> list[Row]:
    """For each d and setting: the C that the sum itself needs on the grid, the C(d) proven, and the exponent of sum in claim.

    The exponent is fitted by least squares to T ≥ 1e20, with its 99.9 % interval: a second route, which decides nothing.
    """
    rows: list[Row] = []
    for setting in settings:
        for d in dims:
            needed, points = [], []
            for decade in DECADES:
                pairs = []
                for horizon in (10.0**decade * phase for phase in PHASES):
                    pairs.append((chain(horizon, d, model.noise(horizon, setting)), model.claimed(horizon, setting)))
                total, claim = max(pairs, key=lambda pair: pair[0] / pair[1])
                needed.append(total / claim)
                points += [(math.log(claim), math.log(total))] if decade >= 20 else []
            fit = linregress(*zip(*points, strict=True))
            half = float(student.ppf(0.9995, len(points) - 2) * fit.stderr)
            rows.append({
                "setting": str(setting), "d": d, "C needed": short(max(needed)), "at T": f"1e{DECADES[int(np.argmax(needed))]}",
                "C at T = 1e280": short(needed[-1]), "C(d) proven": short(model.constant(d)), "exponent": short(fit.slope, 5),
                "from": short(fit.slope - half, 5), "to": short(fit.slope + half, 5),
            })  # fmt: skip
    return rows
