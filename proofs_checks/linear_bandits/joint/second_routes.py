"""What the repaired theorems are held against, beside their proofs: sums batch by batch, and runs of the shipped loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.elimination.central import Central
from algorithms.elimination.local import Local
from algorithms.elimination.loop import run
from algorithms.elimination.setting import Setting
from algorithms.elimination.shuffled import Shuffled
from algorithms.rewards import Stochastic
from proofs_checks.linear_bandits.joint.regret_sum import (
    Constants,
    Size,
    central_bound,
    central_gamma,
    local_bound,
    played_sum,
    reports_gamma,
    shuffled_bound,
)
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import short
from proofs_checks.shared.measured_regret import Played

DELTA = Fraction("1e-6")
STEPS: dict[str, Callable[[Fraction, Any], Any]] = {
    "central": lambda epsilon, kind: Central(epsilon, kind),
    "local": lambda epsilon, kind: Local(epsilon, kind),
    "shuffled": lambda epsilon, kind: Shuffled(epsilon, DELTA, kind),
}


def bound(model: str, at: Size, epsilon: float, constants: Constants) -> float:
    if model == "shuffled":
        return shuffled_bound(at, epsilon, float(DELTA), constants)
    return (central_bound if model == "central" else local_bound)(at, epsilon, constants)


def closed_epsilon0(power: float, epsilon: float) -> float:
    """The rule of fix.eps0-closed in floats, f inverted by bisection: no use of κ."""
    delta, n = float(DELTA), power
    domain = math.log(n / (16 * math.log(2 / delta))) if n > 16 * math.log(2 / delta) else 0.0
    low, high = 0.0, max(domain, 0.0)
    for _ in range(60):
        middle = (low + high) / 2
        grown = math.exp(middle)
        value = (grown - 1) / (grown + 1) * (8 * math.sqrt(grown * math.log(4 / delta) / n) + 8 * grown / n)
        low, high = (middle, high) if math.log1p(value) <= epsilon else (low, middle)
    return max(epsilon, low)


def sums_against(model: str, constants: Constants) -> Row:
    """Σ n_i·min(2, 4γ_{i−1}), batch by batch, over the closed form: the largest ratio."""
    horizons = [*map(float, (*range(3, 12), 15, 20, 30, 45)), 1e2, 1e3, 1e4, 1e6, 1e9, 1e20, 1e60]
    worst, where = 0.0, ""
    for horizon, (actions, rank), support, epsilon in product(
        horizons, ((1, 1), (10, 2), (10**6, 5)), (2, 20), (0.01, 1.0, 100.0)
    ):
        at = Size(horizon, actions, rank, support)
        if model == "central":
            gamma = central_gamma(at, epsilon)
        elif model == "local":
            gamma = reports_gamma(at, lambda power, e=epsilon: e)  # type: ignore[misc]
        else:
            gamma = reports_gamma(at, lambda power, e=epsilon: closed_epsilon0(power, e))  # type: ignore[misc]
        ratio = played_sum(at, gamma) / bound(model, at, epsilon, constants)
        if ratio > worst:
            worst, where = ratio, f"T = {horizon:g}, K = {actions}, m = {rank}, S = {support}, ε = {epsilon:g}"
    return {"sum, batch by batch, over the closed form ≤": short(worst), "at": where}


def runs_against(model: str, kind: Any, constants: Constants, instances: int, maximum: str = "active", horizon: int = 200) -> Row:
    """Runs of the shipped loop, 4 actions on the circle, ε = 5: regret over the bound, and how often the optimum left.

    The bound is below 2T at T = 10^7, not at T = 200. p-value: of so many losses if each run loses with probability 1/T. Seed 1.
    """
    epsilon, rng = Fraction(5), np.random.default_rng(1)
    points, thetas = random_instance(rng, 4, 2, instances=instances)
    means = np.einsum("gkd,gd->gk", points, thetas)
    with dp.simulate(1, trials=instances) as channel:
        setting = Setting(points, horizon, kind, maximum=maximum)
        played = Played(run(setting, STEPS[model](epsilon, kind), Stochastic(means, rng), channel), points, means)
    at = Size(float(horizon), 4, 2, 4)
    lost, most = int(played.lost.sum()), float(played.result.regret(means).max())
    return {
        "calibration": kind, "T": horizon, "runs": instances, "rounds": int(played.result.pulls.sum(axis=1).max()),
        "batches ≤": int(played.result.batches.max()), "regret over its bound ≤": short(most / bound(model, at, 5.0, constants)),
        "optimum lost": lost, "p-value": short(float(binom.sf(lost - 1, instances, 1 / horizon)), 3),
    }  # fmt: skip


def agree(runs: list[Row], sums: Row) -> bool:
    """No run exceeds its bound, plays other than T rounds or more than log T batches; losses are no more than 1/T explains."""
    return sums["sum, batch by batch, over the closed form ≤"] <= 1 + 1e-12 and all(
        row["regret over its bound ≤"] <= 1 and row["rounds"] == row["T"] and row["batches ≤"] <= math.log(row["T"])
        and row["p-value"] > 1e-6
        for row in runs
    )  # fmt: skip
