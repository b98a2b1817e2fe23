"""From a system of the literature to a subject: what is played, its neighbours, how it is evaluated, and what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance
from algorithms.baselines.blocks import Setting, System, run
from algorithms.elimination.loop import Play
from algorithms.optimistic.bandit_subject import OptimisticNeighbours
from algorithms.rewards import SealedRewards, Stochastic
from dpaudit.subjects import Subject
from dpaudit.subjects.subject import make_subject


@dataclass(frozen=True)
class _Baseline:
    setting: Setting
    system: System
    private: bool

    def evaluate(self, channel: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Play the standard simulated environment: rewards in {−1, 1}; with trials, a random instance for each."""
        means, played = self._one(channel, rng) if channel.trials is None else self._many(channel, rng)
        return played.summary(means)

    def _one(self, channel: Any, rng: np.random.Generator) -> tuple[np.ndarray, Play]:
        theta = rng.normal(size=self.setting.actions.shape[1])
        means = self.setting.actions @ (theta / np.linalg.norm(theta))
        environment = Stochastic(means, rng)
        return means, run(self.setting, self.system, SealedRewards(environment) if self.private else environment, channel)

    def _many(self, channel: Any, rng: np.random.Generator) -> tuple[np.ndarray, Play]:
        count, dimension = self.setting.actions.shape
        actions, thetas = random_instance(rng, count, dimension, instances=channel.trials)
        means = np.einsum("gkd,gd->gk", actions, thetas)
        return means, run(replace(self.setting, actions=actions), self.system, Stochastic(means, rng), channel)


def baseline_subject(name: str, setting: Setting, system: System, claim: dp.Claim, notes: Mapping[str, str]) -> Subject:
    """``notes``: what is printed with every result; ``privacy`` among them says that it claims none."""
    baseline = _Baseline(setting, system, "privacy" not in notes)

    def play(rewards: Any, channel: Any, trials: int | None = None) -> Any:
        return run(setting, system, rewards, channel)

    size, dimension = setting.actions.shape
    words = {
        "calibration": "printed", "instance": f"K={size}, d={dimension}", "contexts": "one for all rounds, public",
        "rewards": f"clipped to [{setting.low:g}, {setting.high:g}]",
        "witness trials": str(max(1, min(64, 2_000_000 // setting.horizon))), **notes,
    }  # fmt: skip
    return make_subject(
        play, claim, OptimisticNeighbours(setting), f"{name} (printed)",  # type: ignore[arg-type]
        public=lambda played: played.plays, evaluate=baseline.evaluate, notes=words,
    )  # fmt: skip
