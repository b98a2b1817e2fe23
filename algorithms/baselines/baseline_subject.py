"""From a system of the literature to a subject: what is played, its neighbours, how it is evaluated, and what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import random_instance, simulated_instance
from algorithms.baselines.blocks import Setting, System, run
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
        actions, means = self._instance(channel.trials, rng)
        environment = Stochastic(means, rng)
        rewards = SealedRewards(environment) if channel.trials is None and self.private else environment
        played = run(replace(self.setting, actions=actions), self.system, rewards, channel)
        by_context = means.reshape(*means.shape[:-1], self.setting.contexts, -1)
        return played.summary((by_context - by_context.max(axis=-1, keepdims=True)).reshape(means.shape))  # less what was best

    def _instance(self, trials: int | None, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Actions and means; those of all contexts, one after the other."""
        if self.setting.contexts == 1:
            return simulated_instance(self.setting.actions, trials, rng)
        count, dimension = self.setting.actions.shape
        actions, theta = random_instance(rng, self.setting.contexts * count, dimension, instances=trials)
        return actions, np.einsum("...kd,...d->...k", actions, theta)


def baseline_subject(name: str, setting: Setting, system: System, claim: dp.Claim, notes: Mapping[str, str]) -> Subject:
    """``notes``: what is printed with every result; ``privacy`` among them says that it claims none."""
    baseline, audited = _Baseline(setting, system, "privacy" not in notes), replace(setting, contexts=1)

    def play(rewards: Any, channel: Any, trials: int | None = None) -> Any:
        return run(audited, system, rewards, channel)

    size, dimension = setting.actions.shape
    drawn = f"; runs draw one of {setting.contexts} sets of actions in each round" if setting.contexts > 1 else ""
    contexts = f"one for all rounds, public{drawn}"
    words = {
        "calibration": "printed", "instance": f"K={size}, d={dimension}", "contexts": contexts,
        "rewards": f"clipped to [{setting.low:g}, {setting.high:g}]",
        "witness trials": str(max(1, min(64, 2_000_000 // setting.horizon))), **notes,
    }  # fmt: skip
    return make_subject(
        play, claim, OptimisticNeighbours(setting), f"{name} (printed)",  # type: ignore[arg-type]
        public=lambda played: played.plays, evaluate=baseline.evaluate, notes=words,
    )  # fmt: skip
