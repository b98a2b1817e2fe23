"""Algorithms 1–3 in the chain: orders claimed, noise, and the constants C(d) that the closed form gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.linear_bandits.lemmas import central as lemma_central
from proofs_checks.linear_bandits.lemmas.local import Width
from proofs_checks.linear_bandits.theorems.regret.chain import E2, HALF, ROOT, SUPPORT, WHOLE, Budget, Model, Shape, level_slope
from proofs_checks.shared.laplace_tails import MP

Order = Callable[[Any, Any], Any]  # (T, ε) → the regret claimed, without its constant
DELTA = Fraction("1e-6")
LOG_SQUARED = 1.16  # ℓ² ≤ 1.16·√(Tℓ): ℓ³/T is largest at ℓ = 3, 27/e³ = 1.3443


def central_order(horizon: Any, epsilon: Any) -> float:
    """√(T log T) + log²T/ε."""
    return math.sqrt(horizon * math.log(horizon)) + math.log(horizon) ** 2 / epsilon


def local_order(horizon: Any, epsilon0: Any) -> Any:
    """(1 + 1/ε0)√(T log T), d = 1."""
    return (1 + 1 / epsilon0) * MP.sqrt(horizon * MP.log(horizon))


def shuffled_order(horizon: Any, epsilon: Any) -> Any:
    """√(T log T) + √log(1/δ) log^{3/2}T/ε."""
    log = MP.log(horizon)
    return MP.sqrt(horizon * log) + MP.sqrt(-MP.log(MP.mpf("1e-6"))) * log ** MP.mpf("1.5") / epsilon


def intro_order(horizon: Any, epsilon: Any) -> Any:
    """√(T log T) + log T/ε."""
    return MP.sqrt(horizon * MP.log(horizon)) + MP.log(horizon) / epsilon


def shuffled_epsilon0(epsilon: float, n: np.ndarray, printed: bool) -> np.ndarray:
    """f⁻¹_{n,δ}(ε) for each n, as printed. Corrected: kept inside f's domain, and at least ε.

    Where it is small: x ← 2 artanh((e^ε − 1)/g(x)), g(x) = 8√(e^x log(4/δ)/n) + 8e^x/n, which contracts. Else by bisection.
    """
    log4, log2, aim = math.log(4 / float(DELTA)), math.log(2 / float(DELTA)), math.expm1(epsilon)

    def amplified(x: np.ndarray) -> np.ndarray:
        return np.asarray(8 * np.sqrt(np.exp(x) * log4 / n) + 8 * np.exp(x) / n)

    x = np.zeros(len(n))
    if len(n) and (aim / amplified(x)).max() < 0.4:
        for _ in range(16):
            x = 2 * np.arctanh(aim / amplified(x))
    else:
        low, high = np.zeros(len(n)), epsilon + np.log(n) + 2  # f(high) > ε, as f(x) ≥ log(1 + 8·tanh(x/2)·e^x/n)
        for _ in range(60):
            x = (low + high) / 2
            below = np.tanh(x / 2) * amplified(x) < aim
            low, high = np.where(below, x, low), np.where(below, high, x)
    if printed:
        return x
    return np.asarray(np.maximum(epsilon, np.minimum(x, np.log(np.maximum(n / (16 * log2), 1.0)))))


def _at(order: Order) -> Callable[[float, Budget], float]:
    return lambda horizon, budget: float(order(MP.mpf(horizon), budget.at(horizon)))


def _statistical(d: int, start: float) -> float:
    """The part of C(d) that goes with √(T log T)."""
    return 1 + 4 * SUPPORT * d + 2 * E2 * start / WHOLE + 8 * E2 / HALF * math.sqrt(d * level_slope(d))


def central_model(width: lemma_central.Width) -> Model:
    """Noise (2d/(εq^i))·width(|C_i|, L), and width ≤ 2(|C_i| + L), which makes v = (4d/ε)(S + L).

    Both the printed n + L and the corrected L + 2√(nL) are at most that. C(d): ℓ ≤ √(Tℓ), S + L ≤ (S + 21d/10 + 7/2)ℓ.
    """

    def noise(horizon: float, budget: Budget) -> Any:
        return lambda d, power, n, deep: 2 * d / (budget.at(horizon) * power) * width(SUPPORT * d, deep)

    def order(horizon: float, budget: Budget) -> float:
        return central_order(horizon, budget.at(horizon))

    def shape(horizon: float, budget: Budget, d: int, deep: float) -> Shape:
        return Shape(v=4 * d / budget.at(horizon) * (SUPPORT * d + deep))

    def constant(d: int) -> float:
        return max(_statistical(d, 1.0), 16 * E2 * d * (SUPPORT * d + level_slope(d)))

    return Model(order, order, noise, shape, constant)


def local_model(width: Width, scale: int, order: Order) -> Model:
    """Noise (scale/ε0)·width, and width ≤ 2d(√(2L/q^i) + (L + S)/q^i), as printed and as corrected: u and v.

    The printed (2d/q^i)√(n_iL) is at most 2d√(L/q^i) + d(S + L)/q^i, as n_i ≤ q^i + S.
    """

    def noise(horizon: float, budget: Budget) -> Any:
        return lambda d, power, n, deep: scale / budget.at(horizon) * width(d, power, n, deep)

    def shape(horizon: float, budget: Budget, d: int, deep: float) -> Shape:
        unit = scale / budget.at(horizon) * 2 * d
        return Shape(u=unit * math.sqrt(2 * deep), v=unit * (deep + SUPPORT * d))

    def constant(d: int) -> float:
        slope = level_slope(d)
        noisy = 8 * scale * d * E2 * (math.sqrt(2 * slope) / HALF + LOG_SQUARED * (slope + SUPPORT * d))
        return max(_statistical(d, 1.0), noisy)

    return Model(_at(local_order), _at(order), noise, shape, constant)


def shuffled_model(width: Width, scale: int, order: Order) -> Model:
    """ε ≤ 8√(log(1/δ)/T). For ε0 ≤ 1, f(ε0) ≤ 4ε0(√(eΛ/n) + e/n) ≤ 8ε0√(eΛ/n), Λ = log(4/δ), as tanh x ≤ x and nΛ ≥ e.

    So f⁻¹(ε) ≥ ε√n/(8√(eΛ)), which is at most 1; it is inside f's domain for n ≥ 16e·log(2/δ). Hence v and w from there on.
    """
    log4, log2, log1 = (math.log(k / float(DELTA)) for k in (4, 2, 1))
    start = 16 * math.e * log2

    def noise(horizon: float, budget: Budget) -> Any:
        epsilon = budget.at(horizon)
        return lambda d, power, n, deep: scale / shuffled_epsilon0(epsilon, n, scale == 1) * width(d, power, n, deep)

    def shape(horizon: float, budget: Budget, d: int, deep: float) -> Shape:
        unit = scale * 8 * math.sqrt(math.e * log4) / budget.at(horizon) * 2 * d
        return Shape(v=unit * math.sqrt(2 * deep), w=unit * (deep + SUPPORT * d), start=start)

    def constant(d: int) -> float:
        slope = level_slope(d)
        noisy = 64 * scale * d * E2 * math.sqrt(math.e * log4 / log1) * (math.sqrt(2 * slope) + (slope + SUPPORT * d) / ROOT)
        return max(_statistical(d, start), noisy)

    return Model(_at(shuffled_order), _at(order), noise, shape, constant)
