"""The data of the paper's figures: mean regret over random instances, the same instances (actions, θ) in every row.

Figure 1: K = 10, d = 2, T = 10^6, δ = 10^-6. Core set: K = 1000, d = 2, T = 10^7.
Actions and θ are uniform on the unit sphere, rewards ±1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.elimination.central import Central, NonPrivate
from algorithms.elimination.loop import run
from algorithms.elimination.setting import Setting
from algorithms.elimination.local import Local
from algorithms.rewards import Stochastic
from algorithms.elimination.shuffled import Shuffled
from proofs_checks.linear_bandits.figures.peers import no_core_set, phased_elimination

DELTA, SEED = Fraction("1e-6"), 2023
MODELS = ("central", "shuffled", "local", "nonprivate")
CALIBRATIONS = ("printed", "corrected", "tight")
EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")
CORE_EPSILONS = ("0.01", "0.1", "0.2", "0.5", "1", "10")
DESIGNS = ("core set", "no core set", "nonprivate")
CODE = (
    "algorithms.elimination.central", "algorithms.elimination.local", "algorithms.elimination.shuffled", "algorithms.elimination.confidence", "algorithms.elimination.loop",
    "proofs_checks.linear_bandits.figures.peers",
)  # fmt: skip


@dataclass(frozen=True)
class Spot:
    """One point of a figure: which curve, at which ε (None: it does not depend on ε), and the regret of every instance."""

    curve: str
    calibration: str
    epsilon: str | None
    actions: int
    horizon: int
    seed: int
    regret: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.regret))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return float(np.std(self.regret, ddof=1)) / math.sqrt(len(self.regret))

    def row(self) -> dict[str, Any]:
        setting = {name: value for name, value in asdict(self).items() if name != "regret"}
        return {**setting, "instances": len(self.regret), "mean": round(self.mean, 1), "standard_error": round(self.error, 1)}


def ratio(above: Spot, below: Spot) -> tuple[float, float]:
    """Mean regret of one over that of another on the same instances, and its standard error (delta method)."""
    x, y = np.array(above.regret), np.array(below.regret)
    value = x.mean() / y.mean()
    return float(value), float(np.std(x - value * y, ddof=1) / math.sqrt(len(x)) / y.mean())


def instances(count: int, actions: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Actions (count, K, 2) and their mean rewards (count, K)."""
    points, thetas = random_instance(np.random.default_rng(seed), actions, 2, instances=count)
    return points, np.einsum("gkd,gd->gk", points, thetas)


def played(step: Any, calibration: Any, points: np.ndarray, means: np.ndarray, horizon: int, seed: int) -> np.ndarray:
    """The regret of the algorithm itself on each instance."""
    setting = Setting(points, horizon, calibration, stop_when_decided=True)
    with dp.simulate(seed, trials=len(points)) as channel:
        return run(setting, step, Stochastic(means, np.random.default_rng([seed, 1])), channel).regret(means)


def step(model: str, epsilon: str | None, calibration: Any) -> Any:
    if model == "nonprivate" or epsilon is None:
        return NonPrivate()
    if model == "shuffled":
        return Shuffled(Fraction(epsilon), DELTA, calibration)
    return {"central": Central, "local": Local}[model](Fraction(epsilon), calibration)


@lru_cache(maxsize=256)
def spot(
    model: str, calibration: str, epsilon: str | None, count: int, seed: int = SEED, actions: int = 10, horizon: int = 10**6
) -> Spot:
    """A point of Figure 1; ``model`` may be "phased", the non-private algorithm of Lattimore and Szepesvári, ch. 22."""
    points, means = instances(count, actions, seed)
    if model == "phased":
        regret = phased_elimination(points, means, horizon, np.random.default_rng([seed, 2]))
    else:
        regret = played(step(model, epsilon, calibration), calibration, points, means, horizon, seed)
    return Spot(model, calibration, epsilon, actions, horizon, seed, tuple(regret.tolist()))


@lru_cache(maxsize=64)
def core_spot(
    design: str, calibration: str, epsilon: str | None, count: int, seed: int = SEED, actions: int = 1000, horizon: int = 10**7
) -> Spot:
    """A point of the core-set figure: Algorithm 1 with a core set, with every active action pulled alike, or without noise."""
    points, means = instances(count, actions, seed)
    chosen = step("central" if design == "core set" else "nonprivate", epsilon, calibration)

    def part(b: slice) -> np.ndarray:
        if design == "no core set":
            rng = np.random.default_rng([seed, 3, b.start])
            return no_core_set(points[b], means[b], horizon, float(epsilon or "inf"), calibration, rng)
        return played(chosen, calibration, points[b], means[b], horizon, seed + b.start)

    regret = np.concatenate([part(slice(first, first + 50)) for first in range(0, count, 50)])  # so that arrays stay small
    return Spot(design, calibration, epsilon, actions, horizon, seed, tuple(regret.tolist()))


Point = tuple[Callable[..., Spot], str, str, str | None]


def wanted() -> Iterable[Point]:
    """Every point of both figures: function, curve, calibration, ε. The slow ones first."""
    for calibration in reversed(CALIBRATIONS):
        for design in DESIGNS:
            for epsilon in (None,) if design == "nonprivate" else CORE_EPSILONS:
                yield core_spot, design, calibration, epsilon
    for calibration in reversed(CALIBRATIONS):
        for model in MODELS:
            for epsilon in (None,) if model == "nonprivate" else EPSILONS:
                yield spot, model, calibration, epsilon
    yield spot, "phased", "textbook", None


def spot_of(job: tuple[Point, int, int]) -> Spot:
    """A point, with its instances and its seed. Here, as a worker that is spawned does not find what stands in ``__main__``."""
    (function, curve, calibration, epsilon), count, seed = job
    return function(curve, calibration, epsilon, count, seed)
