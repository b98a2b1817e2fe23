"""Confidence widths γ: how far an estimated mean reward can be from the truth, with all noise counted.

``printed`` follows the paper to the letter, wrong constants included; ``corrected`` and ``tight`` follow our corrections.
Arrays: G public states, k pulled actions (padding has count 0), K actions. All logarithms are natural.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Calibration = Literal["printed", "corrected", "tight"]
CALIBRATIONS: tuple[Calibration, ...] = ("printed", "corrected", "tight")
Model = Literal["nonprivate", "central", "reports"]


@dataclass(frozen=True)
class Situation:
    """What the widths may depend on: public quantities of one batch, for G states at once."""

    power: float  # q^i
    horizon: int
    batches_at_most: int
    dim: int
    spread: float  # reward range s = high − low
    active: np.ndarray  # (G, K) bool
    rank: np.ndarray  # (G,) dimension of the span of the active actions
    support: np.ndarray  # (G,) number of distinct actions pulled
    counts: np.ndarray  # (G, k) pulls
    coefficients: np.ndarray  # (G, k, K): l = αᵀ V⁻¹ a_k
    norms: np.ndarray  # (G, K): ‖α‖² in V⁻¹
    scale: np.ndarray  # (G,) Laplace scale of one noise term; 0 without noise
    epsilon: np.ndarray  # (G,) the ε or ε0 that the printed formulas divide by; inf without noise
    wanted: np.ndarray | None = None  # (G, K) bool: actions whose width is asked for, the others may be ∞; None for all


def widths(model: Model, calibration: Calibration, at: Situation) -> np.ndarray:
    """γ for every state and action, shape (G, K) or (G, 1)."""
    if calibration == "tight":
        return _tight(model, at)
    log_term = np.log(4.0 * at.active.sum(axis=1) * float(at.horizon) ** 2)
    if calibration == "printed":
        return _printed(model, at, log_term)[:, None]
    return _corrected(model, at, log_term)[:, None]


def _printed(model: Model, at: Situation, log_term: np.ndarray) -> np.ndarray:
    """Algorithms 1–3, line "γ_i ←", with Bd read as |C_i|."""
    d, power = at.dim, at.power
    statistical: np.ndarray = np.sqrt(4 * d / power * log_term)
    if model == "nonprivate":
        return statistical
    if model == "central":
        result: np.ndarray = statistical + (2 * at.support * d + 2 * d * log_term) / (at.epsilon * power)
        return result
    pulls = at.counts.sum(axis=1)
    reports: np.ndarray = statistical + 2 * d / (power * at.epsilon) * np.sqrt(pulls * log_term)
    return reports


def _corrected(model: Model, at: Situation, log_term: np.ndarray) -> np.ndarray:
    """Corrections, "Central γ" and "Local and shuffled γ"; variance proxy (s/2)²."""
    m, power = at.rank, at.power
    statistical: np.ndarray = at.spread / 2 * np.sqrt(4 * m * log_term / power)
    if model == "nonprivate":
        return statistical
    if model == "central":
        central: np.ndarray = statistical + 2 * m * at.scale / power * (log_term + 2 * np.sqrt(at.support * log_term))
        return central
    reports: np.ndarray = statistical + at.scale * (2 * np.sqrt(2 * m * log_term / power) + 2 * m * log_term / power)
    return reports


def _tight(model: Model, at: Situation) -> np.ndarray:
    """Corrections, "Tight γ": per action, one joint Chernoff bound on reward noise and privacy noise.

    γ_a = min_λ [λ²v/2 − Σ_k m_k log(1−λ²l_k²σ²) + L]/λ.

    L = log(|A_i|·N_max·T), without the factor 2 of a two-sided bound: the optimum survives batch i, and every action with a gap
    above 2(γ_a + γ_*) leaves, on one one-sided event per action (the optimum is not underestimated, no other overestimated).
    """
    levels = np.log(at.active.sum(axis=1) * float(at.batches_at_most) * at.horizon)
    wanted = np.ones_like(at.active) if at.wanted is None else at.wanted
    g, a = np.nonzero(wanted)
    log_term, variance = levels[g], at.norms[g, a] * (at.spread / 2) ** 2
    bound = np.sqrt(2 * log_term * variance)
    if model != "nonprivate" and at.scale.any():
        squares = (at.coefficients.transpose(1, 0, 2)[:, g, a] * at.scale[g]) ** 2  # (k, wanted): (l_k σ)²
        terms = (at.counts > 0).astype(float) if model == "central" else at.counts.astype(float)
        noisy = np.flatnonzero(squares.max(axis=0) > 0)
        bound[noisy] = _chernoff(squares[:, noisy], terms.T[:, g[noisy]], variance[noisy], log_term[noisy])
    result = np.full(wanted.shape, np.inf)
    result[g, a] = bound
    return result


def _chernoff(squares: np.ndarray, terms: np.ndarray, variance: np.ndarray, log_term: np.ndarray) -> np.ndarray:
    """min_λ [λ²v/2 − Σ_k m_k log(1−λ²s_k) + L]/λ by column: s_k = ``squares``, m_k = ``terms``, both of shape (k, columns).

    Every λ in range gives a valid width; Newton finds the best one from λK'(λ) − K(λ) = L, so that an iteration too few costs
    tightness, never validity. Five leave less than 10^-6 of the width.
    """
    largest = squares.max(axis=0)
    # λ = x/√largest with x in (0, 1): the moment generating function is finite below 1.
    ratio, spread = squares / largest, variance / largest
    quadratic = spread / 2 + _total(terms, ratio)
    x = np.minimum(np.sqrt(log_term / quadratic), 0.9)
    for _ in range(5):
        x2 = x * x
        rest = 1 - x2 * ratio
        share = ratio / rest
        value = spread * x2 / 2 - _total(terms, np.log(rest))
        first = _total(terms, share)
        second = _total(terms, share * share)
        # K' = (spread + 2·first)·x and K'' = spread + 2·first + 4x²·second
        linear = spread + 2 * first
        step = (x2 * linear - value - log_term) / (x * (linear + 4 * x2 * second))
        x = np.clip(x - step, x / 4, (1 + 3 * x) / 4)
    x2 = x * x
    exponent = spread * x2 / 2 - _total(terms, np.log(1 - x2 * ratio))
    bound: np.ndarray = (exponent + log_term) / x * np.sqrt(largest)
    return bound


def _total(terms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Σ_k m_k·value_k by column."""
    total: np.ndarray = np.einsum("kc,kc->c", terms, values)
    return total
