"""Two algorithms beside the paper's three: phased elimination without privacy, and Algorithm 1 without a core set."""

from __future__ import annotations

import math

import numpy as np

from algorithms.actions.core_set import core_sets


def sums(rng: np.random.Generator, counts: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Sums of ``counts`` rewards ±1 with these means."""
    return 2.0 * rng.binomial(counts, np.clip((1 + means) / 2, 0, 1)) - counts


def phased_elimination(points: np.ndarray, means: np.ndarray, horizon: int, rng: np.random.Generator) -> np.ndarray:
    """Lattimore and Szepesvári 2020, ch. 22, δ = 1/T: regret per instance. Phase ℓ pulls ⌈(g π(a)/ε_ℓ²)·2 log(Kℓ(ℓ+1)/δ)⌉ times,
    ε_ℓ = 2^-ℓ, and drops gaps above 2ε_ℓ. The design is near-optimal, g ≤ 1.01 m; the last phase is cut at T."""
    count, size, _ = points.shape
    active, left, regret = np.ones((count, size), bool), np.full(count, horizon, np.int64), np.zeros(count)
    gaps, phase = means.max(axis=1, keepdims=True) - means, 0
    while left.any():
        phase += 1
        design = core_sets(points, active, target=1.01)
        level = 2 * math.log(size * phase * (phase + 1) * horizon)
        weights = design.weights * (1.01 * design.rank * 4.0**phase * level)[:, None]
        counts = np.where(design.weights > 0, np.ceil(weights), 0).astype(np.int64)
        room = np.maximum(left[:, None] - (counts.cumsum(axis=1) - counts), 0)
        pulled = np.minimum(counts, room)
        regret += (pulled * np.take_along_axis(gaps, design.support, axis=1)).sum(axis=1)
        left -= pulled.sum(axis=1)
        noisy = sums(rng, counts, np.take_along_axis(means, design.support, axis=1))
        arms = np.take_along_axis(points, design.support[:, :, None], axis=1)
        gram = np.einsum("gk,gki,gkj->gij", counts.astype(float), arms, arms)
        theta = np.einsum("gij,gk,gkj->gi", np.linalg.pinv(gram, rcond=1e-12, hermitian=True), noisy, arms)
        estimates = np.where(active, np.einsum("gkd,gd->gk", points, theta), -np.inf)
        active &= estimates >= estimates.max(axis=1, keepdims=True) - 2.0 * 2.0**-phase
    return regret


def no_core_set(
    points: np.ndarray, means: np.ndarray, horizon: int, epsilon: float, calibration: str, rng: np.random.Generator
) -> np.ndarray:
    """Algorithm 1 with C_i = A_i and π uniform: regret per instance, in O(|A_i|) a batch (θ̂ needs Σ r̂_a a only).

    Actions are sorted by their gap, so that those still active are the first ones, and later batches look at these only.

    Beside the algorithms' own ``design="all"``: the same law. ``tight`` takes log MGF ≤ λ²V/(1 − λσc) for the noise, which is a
    little wider than the joint Chernoff bound.
    """
    count, size, _ = points.shape
    growth = (2 * horizon) ** (1 / math.log(horizon))
    limit = _most_batches(horizon, growth)
    order = np.argsort(-means, axis=1)
    points, means = np.take_along_axis(points, order[:, :, None], axis=1), np.take_along_axis(means, order, axis=1)
    active, time = np.ones((count, size), bool), np.zeros(count, np.int64)
    gaps, best = means.max(axis=1, keepdims=True) - means, np.zeros(count, np.int64)
    regret, going = np.zeros(count), np.ones(count, bool)
    for batch in range(1, limit + 1):
        each = np.ceil(growth**batch / active.sum(axis=1) - 1e-9).astype(np.int64)
        going = going & (time + each * active.sum(axis=1) <= horizon) & (active.sum(axis=1) > 1)
        if not going.any():
            break
        first = slice(int(np.flatnonzero(active[going].any(axis=0))[-1]) + 1)
        g, mine, n = np.flatnonzero(going), active[going][:, first], each[going]
        rows, arms = np.nonzero(mine)
        totals = np.zeros(mine.shape)
        noise = rng.laplace(scale=_scale(epsilon, calibration), size=len(rows)) if math.isfinite(epsilon) else 0.0
        totals[rows, arms] = sums(rng, n[rows], means[g[rows], arms]) + noise
        own = np.where(mine[:, :, None], points[g][:, first], 0.0)
        inverse = np.linalg.pinv(own.transpose(0, 2, 1) @ own * n[:, None, None], rcond=1e-12, hermitian=True)
        theta = inverse @ (own.transpose(0, 2, 1) @ totals[:, :, None])
        norms = ((own @ inverse) * own).sum(axis=2) if calibration == "tight" else totals  # the others do not use them
        width = _width(calibration, epsilon, horizon, limit, growth**batch, mine, n, norms)
        estimates = np.where(mine, (own @ theta)[:, :, 0], -np.inf)
        time[g] += n * mine.sum(axis=1)
        regret[g] += n * (mine * gaps[g][:, first]).sum(axis=1)
        best[g] = estimates.argmax(axis=1)
        active[g, first] = mine & (estimates + width >= (estimates - width).max(axis=1, keepdims=True))
    return np.asarray(regret + (horizon - time) * np.take_along_axis(gaps, best[:, None], axis=1)[:, 0])


def _scale(epsilon: float, calibration: str) -> float:
    return (1 if calibration == "printed" else 2) / epsilon if math.isfinite(epsilon) else 0.0


def _most_batches(horizon: int, growth: float) -> int:
    used, batch = 0, 0
    while (used := used + math.ceil(growth ** (batch + 1))) <= horizon:
        batch += 1
    return batch


def _width(
    calibration: str,
    epsilon: float,
    horizon: int,
    limit: int,
    power: float,
    active: np.ndarray,
    each: np.ndarray,
    norms: np.ndarray,
) -> np.ndarray:
    """γ, (instances, 1) or (instances, K): d = 2, |C_i| = |A_i|; reward range 2."""
    size, scale = active.sum(axis=1), _scale(epsilon, calibration)
    level = np.log(4.0 * size * float(horizon) ** 2)
    if calibration == "printed":
        return np.asarray(np.sqrt(8 * level / power) + (4 * size + 4 * level) * scale / power)[:, None]
    if calibration == "corrected":
        return np.asarray(np.sqrt(8 * level / power) + 4 * scale / power * (level + 2 * np.sqrt(size * level)))[:, None]
    level = np.log(size * float(limit) * horizon)[:, None]
    spread = norms / 2 + scale**2 * norms / each[:, None]  # V = v/2 + σ²Σl², Σl² = ‖a‖²/n
    largest = np.sqrt(norms * norms.max(axis=1, keepdims=True))
    return np.asarray(2 * np.sqrt(spread * level) + scale * largest * level)
