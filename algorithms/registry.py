"""Factories of the registered algorithms: from parameters to a subject, with every open choice of the paper spelled out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.actions.action_sets import Finite, random_instance, validate
from algorithms.elimination.central import Central, NonPrivate
from algorithms.elimination.confidence import CALIBRATIONS, Calibration
from algorithms.elimination.local import Local
from algorithms.elimination.loop import Design, Plans, PrivacyStep, Setting, run
from algorithms.elimination.reward_neighbours import RewardSequence
from algorithms.elimination.shuffled import Shuffled
from algorithms.rewards import SealedRewards, Stochastic
from dpaudit.claims import InvalidValue, Number, exact_delta, positive, whole
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
            return np.array([[1.0], [-1.0]])[
                : max(1, min(count, 2))
            ], "" if count <= 2 else "in one dimension there are two unit actions"
        return random_instance(np.random.default_rng(INSTANCE), count, dim)[0], ""
    chosen = actions if hasattr(actions, "actions") else Finite(np.asarray(actions, dtype=float))
    net = chosen.actions(horizon)
    return net.points, "; ".join(part for part in (net.notice, validate(net.points)) if part)


def _setting(horizon: Any, actions: Any, calibration: str, low: Number, high: Number, **more: Any) -> tuple[Setting, str]:
    rounds = whole(horizon, "horizon", 3)
    if rounds > 2**32:  # sums of rewards are exact in float64 on the grid 2^-20 up to there
        raise InvalidValue("horizon", horizon, "at most 2^32")
    if calibration not in CALIBRATIONS:
        raise InvalidValue("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
    points, notice = action_array(actions, rounds)
    more.setdefault("stop_when_decided", calibration == "tight")
    return Setting(points, rounds, calibration, float(dp.exact(low)), float(dp.exact(high)), **more), notice


PRINTED = {"central": "thm1.privacy", "local": "thm2.privacy", "shuffled": "thm3.privacy"}
EPSILON0 = {"corrected": ", fix.eps0-closed", "tight": ", fix.eps0-clones"}


def _claims(name: str, calibration: str) -> str:
    """The claims about privacy that a calibration rests on: the paper's theorem as printed, or our corrections of it."""
    if calibration == "printed":
        return PRINTED[name]
    return "fix.noise" + (EPSILON0[calibration] if name == "shuffled" else "")


def _subject(name: str, setting: Setting, step: PrivacyStep, claim: dp.Claim, notice: str) -> dp.Subject:
    plans = Plans()

    def play(rewards: Any, channel: Any, trials: int | None = None) -> Any:
        return run(setting, step, rewards, channel, plans)

    def evaluate(channel: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Play the standard simulated environment: rewards in {low, high}; with trials, a random instance for each."""
        if channel.trials is None:
            theta = rng.normal(size=setting.actions.shape[1])
            means = setting.actions @ (theta / np.linalg.norm(theta))
            environment = Stochastic(means, rng, setting.low, setting.high)
            played = play(environment if step.model == "nonprivate" else SealedRewards(environment), channel)
        else:
            size, dim = setting.actions.shape
            actions, thetas = random_instance(rng, size, dim, instances=channel.trials)
            means = np.einsum("gkd,gd->gk", actions, thetas)
            own = replace(setting, actions=actions)
            played = run(own, step, Stochastic(means, rng, setting.low, setting.high), channel)
        regret = played.regret(means)
        return {
            "regret": float(np.mean(regret)),
            "batches": int(np.max(played.batches)),
            "action": int(np.ravel(played.best)[0]),
        }

    heavy = step.model == "reports"
    notes = {
        "calibration": setting.calibration, "design": f"{setting.design}, leverage ≤ {setting.leverage:g}·m",
        "elimination": f"maximum over {'A_i' if setting.maximum == 'active' else 'A'}", "logarithm": "natural",
        "batches": f"at most {setting.batches_at_most}: the largest number that fits into T",
        "instance": f"K={len(setting.actions)}, d={setting.actions.shape[1]}",
        "rewards": f"clipped to [{setting.low:g}, {setting.high:g}]",
        "witness trials": str(max(1, min(64, 2_000_000 // setting.horizon)) if heavy else 64),
    }  # fmt: skip
    if notice:
        notes["notice"] = notice
    if step.model != "nonprivate":
        notes["claims"] = _claims(name, setting.calibration)
    else:
        notes["privacy"] = "none: rewards are used as they are; this is the yardstick for regret"
    label = f"{name} ({setting.calibration})"
    return make_subject(
        play,
        claim,
        RewardSequence(setting, step),
        label,
        public=lambda played: played.plays,
        evaluate=evaluate,
        notes=notes,
    )


def _epsilon(epsilon: Number) -> Fraction:
    exact = positive(epsilon, "epsilon")
    if not Fraction(1, 2**30) <= exact <= 2**20:
        raise InvalidValue("epsilon", epsilon, "between 2^-30 and 2^20")
    return exact


def _spread(low: Number, high: Number) -> Fraction:
    return dp.exact(high) - dp.exact(low)


def central(
    *, epsilon: Number, delta: Number = 0, horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    low: Number = -1, high: Number = 1, design: Design = "frank-wolfe", maximum: str = "active",
) -> dp.Subject:  # fmt: skip
    """Algorithm 1: a trusted server."""
    setting, notice = _setting(horizon, actions, calibration, low, high, design=design, maximum=maximum)
    step = Central(_epsilon(epsilon), calibration, _spread(low, high))
    return _subject("central", setting, step, dp.Claim(epsilon, delta), notice)


def central_nocore(**parameters: Any) -> dp.Subject:
    """Algorithm 1 without a core set: every active action is pulled and perturbed."""
    return central(**{**parameters, "design": "all"})


def local(
    *, epsilon: Number, delta: Number = 0, horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    low: Number = -1, high: Number = 1, design: Design = "frank-wolfe", maximum: str = "active",
) -> dp.Subject:  # fmt: skip
    """Algorithm 2: an untrusted server; ``epsilon`` is ε0."""
    setting, notice = _setting(horizon, actions, calibration, low, high, design=design, maximum=maximum)
    step = Local(_epsilon(epsilon), calibration, _spread(low, high))
    return _subject("local", setting, step, dp.Claim(epsilon, delta), notice)


def shuffled(
    *, epsilon: Number, delta: Number = "1e-6", horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    low: Number = -1, high: Number = 1, design: Design = "frank-wolfe", maximum: str = "active",
) -> dp.Subject:  # fmt: skip
    """Algorithm 3: an untrusted server behind a trusted shuffler. Needs δ > 0."""
    setting, notice = _setting(horizon, actions, calibration, low, high, design=design, maximum=maximum)
    if exact_delta(delta) == 0:
        raise InvalidValue("delta", delta, "greater than 0 for the shuffled model")
    step = Shuffled(_epsilon(epsilon), exact_delta(delta), calibration, _spread(low, high))
    return _subject("shuffled", setting, step, dp.Claim(epsilon, delta, observer="shuffled"), notice)


def nonprivate(
    *, epsilon: Number = 1, delta: Number = 0, horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    low: Number = -1, high: Number = 1, design: Design = "frank-wolfe",
) -> dp.Subject:  # fmt: skip
    """The same loop without noise: the yardstick. ``epsilon`` is only what an audit holds it to."""
    setting, notice = _setting(horizon, actions, calibration, low, high, design=design)
    return _subject("nonprivate", setting, NonPrivate(), dp.Claim(epsilon, delta, observer="actions"), notice)


def pieces(
    algorithm: str, *, epsilon: Number, delta: Number, horizon: Any, actions: Any, calibration: Calibration,
    low: Number, high: Number, design: Design, maximum: str,
) -> tuple[Setting, PrivacyStep, dp.Claim]:  # fmt: skip
    """Setting, privacy step and claim of one of the three models, for a face other than the subject."""
    makers: dict[str, Any] = {"central": Central, "local": Local, "shuffled": Shuffled}
    if algorithm not in makers:
        raise InvalidValue("algorithm", algorithm, "one of " + ", ".join(makers))
    bounds = dp.exact(low), dp.exact(high)
    setting, _ = _setting(horizon, actions, calibration, *bounds, design=design, maximum=maximum)
    if algorithm == "shuffled" and exact_delta(delta) == 0:
        raise InvalidValue("delta", delta, "greater than 0 for the shuffled model")
    first = (_epsilon(epsilon), *([exact_delta(delta)] if algorithm == "shuffled" else []))
    observer = "shuffled" if algorithm == "shuffled" else "server"
    return setting, makers[algorithm](*first, calibration, _spread(*bounds)), dp.Claim(epsilon, delta, observer)
