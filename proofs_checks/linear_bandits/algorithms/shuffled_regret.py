"""Regret of Algorithm 3 on random instances, with any rule for ε0. Evidence, never a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.elimination.loop import run
from algorithms.elimination.setting import Setting
from algorithms.elimination.shuffled import Shuffled
from algorithms.rewards import Stochastic
from proofs_checks.linear_bandits.algorithms.shuffled_batches import Rule
from proofs_checks.shared.decisions import Row


@dataclass(frozen=True)
class Ruled(Shuffled):
    """Algorithm 3's privacy step with a rule of its own for ε0."""

    rule: Rule | None = None

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        if self.rule is None:
            return super().terms(counts)
        chosen = [self.rule(self.epsilon, int(n), self.delta) for n in counts.sum(axis=1)]
        scales = [self.sensitivity / e for e in chosen]
        return np.array([float(s) for s in scales]), np.array([float(e) for e in chosen]), scales


def shuffled_regret(calibration: Any, epsilon: Fraction, instances: int, rule: Rule | None = None, seed: int = 1) -> Row:
    """Mean regret with its standard error, K=10, d=2, T=10^6, δ=1e-6, actions and θ uniform on the sphere, rewards ±1."""
    rng = np.random.default_rng(seed)
    points, thetas = random_instance(rng, 10, 2, instances=instances)
    means = np.einsum("gkd,gd->gk", points, thetas)
    step = Ruled(epsilon, Fraction("1e-6"), calibration, rule=rule)
    with dp.simulate(seed, trials=instances) as channel:
        regret = run(Setting(points, 10**6, calibration), step, Stochastic(means, rng), channel).regret(means)
    error = float(regret.std(ddof=1)) / math.sqrt(instances)
    named = {"ε0 rule": rule.__name__} if rule is not None else {}
    return {"model": "shuffled", "calibration": calibration, **named, "epsilon": str(epsilon),
            "regret": round(float(regret.mean())), "± standard error": round(error), "runs": instances}  # fmt: skip
