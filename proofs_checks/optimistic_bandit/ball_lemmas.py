"""Lemmas 3, 4 and 5 of the optimistic bandit: the ellipsoid of all releases, cut with the unit ball, and bounds from pairs.

Lemma 3, central. S_n = s_n − H_nθ*; I_n = ∫_{|λ|≤τ} exp(⟨λ, S_n⟩ − ½λ'H_nλ) dN(0, Λ⁻¹I) is a nonnegative supermartingale with
I_0 ≤ 1, so that P(sup I_n ≥ 2T) ≤ 1/(2T) (Ville). I is even and convex in S, hence grows along rays: at |S|_{A⁻¹} ≥ β it is at
least what it is at β, det(I + H/Λ)^{-1/2}e^{β²/2}·P(|G| ≤ τ), G ~ N(A⁻¹S, A⁻¹). Λ is so large that this probability is at least
½ (Markov).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from algorithms.optimistic.ball_bounds import Ellipsoid, Pairs
from algorithms.optimistic.schedule import Model, Schedule
from dpaudit.papers.checks import Check, Decision
from proofs_checks.shared.decisions import decided
from proofs_checks.shared.proof_steps import Step, rows

CODE = ("algorithms.optimistic.ball_bounds", "algorithms.optimistic.schedule")
TAU = 0.7  # of 1/b


def mixture(schedule: Schedule, ridge: float, gram: np.ndarray) -> np.ndarray:
    """I at |S|_{A⁻¹} = β over 2T, d = 1, in closed form: at least 1 is what Ville needs. ``gram``: values of H."""
    reach = TAU / schedule.model.noise
    square = schedule.radius_start + np.log1p(gram / ridge)  # β²
    whole = gram + ridge  # A
    middle, spread = np.sqrt(square / whole), 1 / np.sqrt(whole)
    inside = ndtr((reach - middle) / spread) - ndtr((-reach - middle) / spread)
    result: np.ndarray = np.exp(square / 2 - np.log1p(gram / ridge) / 2) * inside / (2 * schedule.horizon)
    return result


def ellipsoid(quick: bool, ridge: float | None = None) -> Decision:
    """``ridge``: a planted Λ, as 20 would be with central noise; None: the code's."""
    least, where = math.inf, ""
    for horizon in (10**3, 10**6, 10**9):
        for b in (0.02, 0.2, 2.0, 20.0, 200.0):
            schedule = Schedule(Model(20, b, (1.0,) * 64), horizon, 10, 1)
            gram = np.concatenate([[0.0], np.geomspace(1e-3, horizon, 400)])
            found = float(mixture(schedule, schedule.ridge if ridge is None else ridge, gram).min())
            if found < least:
                least, where = found, f"T = {horizon:g}, b = {b:g}"
    steps = [
        Step("log E e^{tη} ≤ t²v/2 for |t| ≤ τ", "Hoeffding for the reports; −log(1 − b²t²) ≤ κb²t² (optimistic.noise-growth)"),
        Step("P(sup I_n ≥ 2T) ≤ 1/(2T)", "I_n is a nonnegative supermartingale, I_0 ≤ 1 (Ville)"),
        Step("I ≥ 2T wherever |S|_{A⁻¹} > β", "I is even and convex in S; Markov puts half of G inside |λ| ≤ τ", least >= 1),
    ]
    evidence = {"proof": rows(steps), "least I/(2T) at the threshold, d = 1": least, "at": where,
                "range": "every T, b, d and path, by the proof; d = 1 in closed form for T up to 10^9, b up to 200"}  # fmt: skip
    if least < 1:
        return decided("refuted", f"{where}: I = {least:.3g}·2T at the threshold", {**evidence, "counterexample": where})
    words = f"Ville for a mixture that is at least 2T outside the ellipsoid; d = 1: {least:.4g}·2T at least"
    return decided("verified", words, evidence)


def ball(quick: bool, share: float = 1.0) -> Decision:
    """θ of the ball and the ellipsoid, drawn all over, against the code's bounds. ``share`` < 1: bounds that are too narrow."""
    rng, worst, near = np.random.default_rng(5), -math.inf, math.inf
    for trial in range(20 if quick else 200):
        d = 2 + trial % 3
        actions = rng.normal(size=(6, d)) * rng.uniform(0.1, 1, (6, 1))
        actions /= np.maximum(1, np.linalg.norm(actions, axis=1, keepdims=True))
        theta = rng.normal(size=(4000, d))
        theta *= (rng.uniform(0, 1, (4000, 1)) ** (1 / d)) / np.linalg.norm(theta, axis=1, keepdims=True)
        means = theta @ actions.T
        worst = max(worst, _outside_ellipsoid(rng, actions, theta, means, share))
        excess, slack = _outside_pairs(rng, actions, means, share)
        worst, near = max(worst, excess), min(near, slack)
    evidence = {
        "largest ⟨a, θ⟩ beyond a bound": worst, "closest pair bound": near,
        "proof": "Lemma 4: α(|s − Hθ|²_{A⁻¹} − β²) + |θ|² − 1 ≤ 0 is |θ − θ_α|²_D ≤ r², then Cauchy–Schwarz. Lemma 5: the part "
        "of θ orthogonal to b is at most √(1 − x²), and xc + √(1 − x²)√(1 − c²) is concave with its maximum at x = c",
        "range": "every s, H, β, α, a, b and interval, by the proof; drawn: d = 2, 3, 4, actions of any norm, 4000 θ each",
    }  # fmt: skip
    if worst > 1e-8:
        return decided("refuted", f"a mean lies {worst:.3g} beyond its bound", {**evidence, "counterexample": f"{worst:.6g}"})
    words = "Cauchy–Schwarz in the ellipsoid's and in the ball's norm; no θ drawn lies beyond a bound"
    return decided("verified", f"{words}, and pairs come within {near:.2g}", evidence)


def _outside_ellipsoid(
    rng: np.random.Generator, actions: np.ndarray, theta: np.ndarray, means: np.ndarray, share: float
) -> float:
    """H and s of some releases at a θ of the ball, with errors of the size of β: how far do means of the set lie outside?"""
    d = actions.shape[1]
    schedule = Schedule(Model(20, 2.0, (1.0,) * 20), 10**4, 6, d)
    pulled = rng.uniform(0, 3000, 6)
    gram = (actions * pulled[:, None]).T @ actions
    whole = gram + schedule.ridge * np.eye(d)
    shape = Ellipsoid.of(schedule, gram[None], np.zeros((1, d)), actions[None])
    error = rng.normal(size=d)
    error *= 0.9 * math.sqrt(float(shape.radius()[0]) / (error @ np.linalg.solve(whole, error)))
    response = gram @ theta[0] + error
    low, high = (each[0] for each in Ellipsoid.of(schedule, gram[None], response[None], actions[None]).bounds())
    residual = response - theta @ gram
    inside = (residual * np.linalg.solve(whole, residual.T).T).sum(axis=1) <= float(shape.radius()[0])
    middle, half = (low + high) / 2, share * (high - low) / 2
    return float((np.abs(means[inside] - middle) - half).max())


def _outside_pairs(rng: np.random.Generator, actions: np.ndarray, means: np.ndarray, share: float) -> tuple[float, float]:
    """One action's interval is known, all others only by their norms: how far beyond, and how near, do means come?"""
    norms = np.linalg.norm(actions, axis=1)
    low, high = -norms.copy(), norms.copy()
    low[0], high[0] = np.sort(rng.uniform(-norms[0], norms[0], 2))
    inside = (means[:, 0] >= low[0]) & (means[:, 0] <= high[0])
    upper = Pairs(actions[None]).upper(low[None], high[None])[0]
    if not inside.any():
        return -math.inf, math.inf
    gaps = share * upper - means[inside].max(axis=0)
    return float(-gaps.min()), float(gaps.min())


WHERE = "optimistic bandit, "
CHECKS = [
    Check(
        "optimistic.ellipsoid", WHERE + "Lemma 3",
        "with probability at least 1 − 1/(2T), |s − Hθ*|_{A⁻¹} ≤ β at all times", ellipsoid, CODE,
    ),
    Check(
        "optimistic.ball", WHERE + "Lemmas 4 and 5",
        "no θ of the ball that the ellipsoid and an interval allow has a mean beyond the bounds", ball, CODE,
    ),
]  # fmt: skip
