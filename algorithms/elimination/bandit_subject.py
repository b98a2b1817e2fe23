"""From a setting and a privacy step to a subject: what is played, how it is evaluated, and the choices that are printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import Finite, random_instance, simulated_instance, validate
from algorithms.elimination.batch_plans import Plans
from algorithms.elimination.confidence import CALIBRATIONS
from algorithms.elimination.loop import Play, run
from algorithms.elimination.reward_neighbours import RewardSequence
from algorithms.elimination.setting import PrivacyStep, Setting
from algorithms.rewards import SealedRewards, Stochastic
from dpaudit.claims import InvalidValue, Number, exact, whole
from dpaudit.subjects import Subject
from dpaudit.subjects.subject import make_subject

MOST_NUMBERS = 10**6  # in an action set that is made here
INSTANCE = 7  # seed of the instance that is used when no actions are given


def action_array(actions: Any, horizon: int) -> tuple[np.ndarray, str]:
    """Actions as an array, and a notice: from (K, d), a number K (d=2), an array, or an action set with its net."""
    if actions is None:
        actions = (10, 2)
    if isinstance(actions, int | str):
        actions = (whole(actions, "actions"), 2)
    if isinstance(actions, tuple) and len(actions) == 2 and all(isinstance(a, int | str) for a in actions):
        count, dim = whole(actions[0], "actions"), whole(actions[1], "dim")
        if count * dim > MOST_NUMBERS:
            raise InvalidValue("actions", actions[0], f"fewer: K·d is at most {MOST_NUMBERS}")
        if dim == 1:
            units = np.array([[1.0], [-1.0]])[: max(1, min(count, 2))]
            return units, "" if count <= 2 else "in one dimension there are two unit actions"
        return random_instance(np.random.default_rng(INSTANCE), count, dim)[0], ""
    chosen = actions if hasattr(actions, "actions") else Finite(np.asarray(actions, dtype=float))
    net = chosen.actions(horizon)
    return net.points, "; ".join(part for part in (net.notice, validate(net.points)) if part)


def make_setting(horizon: Any, actions: Any, calibration: str, low: Number, high: Number, **more: Any) -> tuple[Setting, str]:
    """What is public and fixed in advance, checked; and a notice about the actions."""
    rounds = whole(horizon, "horizon", 3)
    if rounds > 2**32:  # sums of rewards are exact in float64 on the grid 2^-20 up to there
        raise InvalidValue("horizon", horizon, "at most 2^32")
    if calibration not in CALIBRATIONS:
        raise InvalidValue("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
    points, notice = action_array(actions, rounds)
    more.setdefault("stop_when_decided", calibration == "tight")
    return Setting(points, rounds, calibration, float(exact(low)), float(exact(high)), **more), notice


@dataclass(frozen=True)
class _EliminationBandit:
    """One algorithm in one setting. Runs of it share the plans of their batches."""

    setting: Setting
    step: PrivacyStep
    plans: Plans

    def play(self, rewards: Any, channel: Any, trials: int | None = None) -> Play:
        return run(self.setting, self.step, rewards, channel, self.plans)

    def evaluate(self, channel: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Play the standard simulated environment: rewards in {low, high}; with trials, a random instance for each."""
        actions, means = simulated_instance(self.setting.actions, channel.trials, rng)
        environment = Stochastic(means, rng, self.setting.low, self.setting.high)
        if channel.trials is not None:
            return run(replace(self.setting, actions=actions), self.step, environment, channel).summary(means)
        rewards = environment if self.step.model == "nonprivate" else SealedRewards(environment)
        return self.play(rewards, channel).summary(means)


def bandit_subject(
    name: str, setting: Setting, step: PrivacyStep, claim: dp.Claim, *, notice: str, privacy: Mapping[str, str]
) -> Subject:
    """``privacy``: what its notes say of it: the claims that it rests on, or that there is none."""
    bandit = _EliminationBandit(setting, step, Plans())

    def play(rewards: Any, channel: Any, trials: int | None = None) -> Any:
        return bandit.play(rewards, channel, trials)

    notes = {**_choices(setting, step), **({"notice": notice} if notice else {}), **privacy}
    return make_subject(
        play, claim, RewardSequence(setting, step), f"{name} ({setting.calibration})",
        public=lambda played: played.plays, evaluate=bandit.evaluate, notes=notes,
    )  # fmt: skip


def _choices(setting: Setting, step: PrivacyStep) -> dict[str, str]:
    """Every open choice of the paper, spelled out."""
    reports = step.model == "reports"
    return {
        "calibration": setting.calibration, "design": f"{setting.design}, leverage ≤ {setting.leverage:g}·m",
        "elimination": f"maximum over {'A_i' if setting.maximum == 'active' else 'A'}", "logarithm": "natural",
        "batches": f"at most {setting.batches_at_most}: the largest number that fits into T",
        "instance": f"K={len(setting.actions)}, d={setting.actions.shape[1]}",
        "rewards": f"clipped to [{setting.low:g}, {setting.high:g}]",
        "witness trials": str(max(1, min(64, 2_000_000 // setting.horizon)) if reports else 64),
    }  # fmt: skip
