"""What the proofs assume of the shipped algorithms, read off their code: noise, maximum, batches, widths and ε0."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from algorithms.actions.action_sets import random_instance
from algorithms.elimination.batch_plans import Plan, make_plan
from algorithms.elimination.confidence import Calibration
from algorithms.elimination.setting import Setting
from algorithms.elimination.shuffled import epsilon0
from proofs_checks.linear_bandits.joint.regret_sum import Size, central_gamma, reports_gamma
from proofs_checks.linear_bandits.joint.second_routes import DELTA, STEPS, closed_epsilon0
from proofs_checks.shared.proof_steps import Step

ROUNDING = 1e-9  # relative, of floats in designs and widths
SLACK = Fraction(1, 10**5)  # of ε, that the search for the tight ε0 leaves; κ = 8.3 for 8.277 has room for it
CASES = ((3, 1, 20), (10, 2, 200), (40, 5, 10**6), (6, 3, 10**9))  # K, d, T


def noise(model: str) -> Fraction:
    """b with Lap(b/ε) in the shipped step; the same in both repaired calibrations. Raises AssertionError if they differ."""
    epsilon, counts, found = Fraction(3, 2), np.array([[30, 20]]), set()
    kinds: tuple[Calibration, ...] = ("corrected", "tight")
    for kind in kinds:
        scale = Fraction(STEPS[model](epsilon, kind).terms(counts)[2][0])
        local = epsilon0(epsilon, 50, DELTA, kind) if model == "shuffled" else epsilon
        found.add(scale * local)
    if len(found) != 1:
        raise AssertionError(f"calibrations differ in their noise: {sorted(found)}")
    return found.pop()


def maximum() -> str:
    return Setting(np.eye(2), 20).maximum


def code_steps(model: str, quick: bool) -> list[Step]:
    """Plans of the loop itself: what is pulled, its leverage, and γ."""
    plans = _plans(model)
    excess, widest, apart = (max(values) for values in zip(*plans, strict=True))
    found = [
        Step(
            "q^i ≤ n_i ≤ q^i + |C_i|, ‖a‖² and |a'V⁻¹b| ≤ 2m/q^i in the code's plans",
            f"{len(plans)} plans: at most {excess:.6g} of what is allowed",
            excess <= 1 + ROUNDING,
        ),
        Step("γ in the code is the corrected γ of the proof", f"differs by {apart:.1e} in these plans", apart <= ROUNDING),
        Step("γ_a in the code, tight, is at most the corrected γ", f"at most {widest:.4g} of it in these plans", widest <= 1),
    ]
    return found + (_epsilon0_steps(quick) if model == "shuffled" else [])


@lru_cache(maxsize=8)
def _plans(model: str) -> list[tuple[float, float, float]]:
    """For every plan: what it pulls over what is allowed, tight over corrected γ, and how far corrected γ is from the proof's."""
    found = []
    for (size, dim, horizon), epsilon in product(CASES, (Fraction(1, 10), Fraction(5))):
        actions = random_instance(np.random.default_rng([size, dim]), size, dim)[0]
        active = np.arange(size)[None] % 3 != 1  # not all actions are left
        for batch in {1, math.floor(math.log(horizon)) - 1}:
            corrected, tight = (_plan(model, kind, actions, active, horizon, batch, epsilon) for kind in ("corrected", "tight"))
            power = Setting(actions, horizon).growth ** batch
            at, own = _size(actions, active, horizon, corrected), float(corrected.width[0, 0])
            local = float(corrected.scale[0]) / 2
            gamma = central_gamma(at, 1 / local) if model == "central" else reports_gamma(at, lambda _, x=local: 1 / x)  # type: ignore[misc]
            narrow = float(tight.width[0][active[0]].max()) / own
            found.append((_allowed(corrected, active[0], power, at.rank), narrow, abs(own / gamma(power) - 1)))
    return found


def _plan(model: str, kind: Any, actions: np.ndarray, active: np.ndarray, horizon: int, batch: int, epsilon: Fraction) -> Plan:
    setting = Setting(actions, horizon, kind)
    return make_plan(setting, STEPS[model](epsilon, kind), batch, max(setting.batches_at_most, 1), active, actions)


def _size(actions: np.ndarray, active: np.ndarray, horizon: int, plan: Plan) -> Size:
    rank = int(np.linalg.matrix_rank(actions[active[0]]))
    return Size(float(horizon), float(active.sum()), rank, int((plan.counts[0] > 0).sum()))


def _allowed(plan: Plan, active: np.ndarray, power: float, rank: int) -> float:
    """The largest of q^i/n_i, n_i/(q^i + |C_i|), and of ‖a‖² and |a'V⁻¹b| over 2m/q^i."""
    counts, levers = plan.counts[0].astype(float), plan.coefficients[0][:, active]
    total, norms = counts.sum(), (counts[:, None] * levers**2).sum(axis=0)  # Σ n_k l_k² = ‖a‖²
    most = 2 * rank / power
    return float(max(power / total, total / (power + (counts > 0).sum()), norms.max() / most, np.abs(levers).max() / most))


def _epsilon0_steps(quick: bool) -> list[Step]:
    sizes = (3, 700, 5443) if quick else (3, 700, 5443, 40_000, 297_171)
    apart, least = 0.0, math.inf
    for epsilon, n in product((Fraction(1, 10), Fraction(1), Fraction(5)), sizes):
        corrected = float(epsilon0(epsilon, n, DELTA, "corrected"))
        apart = max(apart, abs(corrected / closed_epsilon0(float(n), float(epsilon)) - 1))
        shipped = float(epsilon0(epsilon, n, DELTA, "tight"))
        least = min(least, shipped / closed_epsilon0(float(n), float(epsilon * (1 - SLACK))))
    return [
        Step("ε0 in the code, corrected, is the rule of the proof", f"differs by {apart:.1e}", apart <= ROUNDING),
        Step(
            "ε0 in the code, tight, is at least the rule's at ε(1 − 10^-5)",
            f"at least {least:.6g} of it at {3 * len(sizes)} (ε, n), on this range only; the bound on 1/ε0 then holds for it too",
            least >= 1 - ROUNDING,
        ),
    ]
