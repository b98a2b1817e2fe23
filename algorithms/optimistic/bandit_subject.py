"""From a setting and a privacy step to a subject: what is played, its neighbours, how it is evaluated, and what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import simulated_instance
from algorithms.optimistic.loop import Optimism, Setting, run
from algorithms.optimistic.privacy_steps import OptimisticStep
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence, Stochastic
from dpaudit.subjects import Subject
from dpaudit.subjects.subject import make_subject

_MOST_VALUES = 10**7  # rewards that an audit writes out one by one


@dataclass(frozen=True)
class OptimisticNeighbours:
    """Two reward sequences that differ in one round."""

    setting: Setting
    name = "reward-sequence"

    def pairs(self, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """All rounds earn the highest (lowest) reward but one: the first, or one of a late and long batch."""
        low, high = self.setting.low, self.setting.high
        return [
            (ConstantExceptOne(base, t, value, low, high), ConstantExceptOne(base, t, base, low, high))
            for t in (0, self.setting.horizon // 4)
            for base, value in ((high, low), (low, high))
        ]

    def others(self, rng: np.random.Generator) -> list[Any]:
        """Other data, on which nothing public may come out differently once the outputs are pinned."""
        low, high, horizon = self.setting.low, self.setting.high, self.setting.horizon
        calm = ConstantExceptOne((low + high) / 2, 0, (low + high) / 2, low, high)
        return [calm] if horizon > _MOST_VALUES else [calm, Sequence(rng.choice([low, high], horizon), low, high)]

    def seal(self, data: Any) -> SealedRewards:
        return SealedRewards(data)


@dataclass(frozen=True)
class _OptimisticBandit:
    setting: Setting
    step: OptimisticStep

    def evaluate(self, channel: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Play the standard simulated environment: rewards in {low, high}; with trials, a random instance for each."""
        actions, means = simulated_instance(self.setting.actions, channel.trials, rng)
        means = means * min(1.0, self.setting.ball)
        environment = Stochastic(means, rng)
        rewards = SealedRewards(environment) if channel.trials is None else environment
        return run(replace(self.setting, actions=actions), self.step, rewards, channel).summary(means)


def optimistic_subject(name: str, setting: Setting, step: OptimisticStep, claim: dp.Claim, *, notice: str, basis: str) -> Subject:
    """``basis``: the claims that its privacy rests on."""
    bandit = _OptimisticBandit(setting, step)

    def play(rewards: Any, channel: Any, trials: int | None = None) -> Any:
        return run(setting, step, rewards, channel)

    notes = {**_choices(setting, step), **({"notice": notice} if notice else {}), "claims": basis}
    return make_subject(
        play, claim, OptimisticNeighbours(setting), name,
        public=lambda played: played.plays, evaluate=bandit.evaluate, notes=notes,
    )  # fmt: skip


def _choices(setting: Setting, step: OptimisticStep) -> dict[str, str]:
    """The public constants of the run."""
    schedule = Optimism(setting, step).schedule
    return {
        "calibration": "optimistic", "first batch": f"{schedule.model.first} rounds, then as many as all before",
        "stages": f"at most {schedule.stages} for each action", "batches": f"at most {schedule.most_batches}",
        "logarithm": "natural", "instance": f"K={schedule.actions}, d={schedule.dimension}",
        "rewards": f"clipped to [{setting.low:g}, {setting.high:g}]", "parameter": f"|θ| ≤ {setting.ball:g}",
        "witness trials": str(64 if step.name == "central" else max(1, min(64, 2_000_000 // setting.horizon))),
    }  # fmt: skip
