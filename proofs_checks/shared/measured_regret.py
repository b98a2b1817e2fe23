"""Regret of the algorithms themselves on random instances: what a correction costs or buys. Evidence, never a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.elimination.central import Central
from algorithms.elimination.local import Local
from algorithms.elimination.loop import Play, run
from algorithms.elimination.setting import Setting
from algorithms.rewards import Stochastic

CODE = (
    "algorithms.elimination.central",
    "algorithms.elimination.local",
    "algorithms.elimination.confidence",
    "algorithms.elimination.loop",
)


@dataclass(frozen=True)
class Played:
    """Runs on instances of their own: what was played, the actions (runs, K, d) and their true means (runs, K)."""

    result: Play
    actions: np.ndarray
    means: np.ndarray

    @property
    def active(self) -> np.ndarray:
        """(runs, batches, K): which actions were active; none after the last batch."""
        codes = self.result.plays[:, :-1]  # the bits of each batch's active set, −1 after the last one
        bits = np.where(codes >= 0, codes, 0)[:, :, None] >> np.arange(self.means.shape[1])
        return np.asarray(bits & 1, dtype=bool)

    @property
    def lost(self) -> np.ndarray:
        """(runs,): was the best action thrown out?"""
        best = np.take_along_axis(self.active, self.means.argmax(axis=1)[:, None, None], axis=2)[:, :, 0]
        return np.asarray((~best & (self.result.plays[:, :-1] >= 0)).any(axis=1))


def play(
    model: str,
    calibration: Any,
    *,
    epsilon: Fraction = Fraction(1),
    horizon: int = 10**6,
    instances: int = 1000,
    seed: int = 1,
    actions: int = 10,
    dim: int = 2,
    maximum: str = "active",
) -> Played:
    """Instances with actions and θ uniform on the sphere, rewards ±1."""
    rng = np.random.default_rng(seed)
    points, thetas = random_instance(rng, actions, dim, instances=instances)
    means = np.einsum("gkd,gd->gk", points, thetas)
    setting = Setting(points, horizon, calibration, maximum=maximum)
    step: Any = {"central": Central, "local": Local}[model](epsilon, calibration)
    with dp.simulate(seed, trials=instances) as channel:
        return Played(run(setting, step, Stochastic(means, rng), channel), points, means)


def regret_row(model: str, calibration: Any, **setting: Any) -> dict[str, Any]:
    """Mean regret with its standard error, and how often the optimum was thrown out."""
    played = play(model, calibration, **setting)
    regret = played.result.regret(played.means)
    error = float(regret.std(ddof=1)) / math.sqrt(len(regret))
    named = {
        "model": model,
        "calibration": calibration,
        **{name: str(value) for name, value in setting.items() if name in ("epsilon", "maximum")},
    }
    return {
        **named,
        "regret": round(float(regret.mean())),
        "± standard error": round(error),
        "runs": len(regret),
        "optimum lost": int(played.lost.sum()),
    }


def regret_rows(model: str, calibrations: Sequence[str], quick: bool) -> list[dict[str, Any]]:
    """K=10, d=2, T=10^6, ε=1: one row for each calibration."""
    return [regret_row(model, calibration, instances=100 if quick else 1000) for calibration in calibrations]
