"""Work of ours that no peer does: how its cost grows with n, k, T, K and d."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

INSTANCES = 100
SETTINGS: dict[str, Callable[[int], tuple[int, int, int]]] = {  # T, K, d
    "horizon": lambda size: (size, 10, 2),
    "actions": lambda size: (10**5, size, 2),
    "dimension": lambda size: (10**5, 20, size),
}


def dpaudit(task: str, size: int) -> Callable[[], float]:
    if task in SETTINGS:
        return _bandit(*SETTINGS[task](size))
    import dpaudit as dp

    if task == "categories":
        return lambda: float(dp.amplify("1", 10_000, "1e-6", method="krr", k=size).upper)
    return lambda: float(dp.amplify("1", size, "1e-6", method="clone").upper)


def _bandit(horizon: int, actions: int, dim: int) -> Callable[[], float]:
    import numpy as np

    import dpaudit as dp
    from algorithms.actions.action_sets import random_instance
    from algorithms.optimistic.loop import Setting, run
    from algorithms.optimistic.privacy_steps import OptimisticCentral
    from algorithms.rewards import Stochastic

    points, thetas = random_instance(np.random.default_rng(14), actions, dim, instances=INSTANCES)
    means: Any = np.einsum("gkd,gd->gk", points, thetas)

    def call() -> float:
        with dp.simulate(1, trials=INSTANCES) as channel:
            rewards = Stochastic(means, np.random.default_rng(15))
            played = run(Setting(points, horizon), OptimisticCentral(Fraction(1)), rewards, channel)
        return float(played.regret(means).mean())

    return call
