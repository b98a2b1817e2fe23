"""The registered factories: ``optimistic``, ``optimistic-local`` and ``optimistic-shuffled``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.bandit_subject import action_array
from algorithms.optimistic.bandit_subject import optimistic_subject
from algorithms.optimistic.loop import Setting
from algorithms.optimistic.privacy_steps import OptimisticCentral, OptimisticLocal, OptimisticShuffled, OptimisticStep
from dpaudit.claims import InvalidValue, Number, exact_delta, positive, whole
from dpaudit.subjects import Subject
from dpaudit.subjects.targets import Printed, in_demo, in_table

CALIBRATION = "optimistic"  # the only one: its constants are those of the proofs


def make_setting(horizon: Any, actions: Any, ball: Number = 1) -> tuple[Setting, str]:
    """What is public and fixed in advance, checked; and a notice about the actions."""
    rounds = whole(horizon, "horizon", 3)
    if rounds > 2**32:  # sums of rewards are exact in float64 on the grid 2^-20 up to there
        raise InvalidValue("horizon", horizon, "at most 2^32")
    points, notice = action_array(actions, rounds)
    if np.linalg.norm(points, axis=1).max() > 1 + 1e-12:
        raise InvalidValue("actions", "an action longer than 1", "of norm at most 1; scale them, and θ the other way")
    if not Fraction(1, 2**10) <= positive(ball, "ball") <= 2**10:
        raise InvalidValue("ball", ball, "between 2^-10 and 2^10: the largest norm of θ")
    return Setting(points, rounds, ball=float(positive(ball, "ball"))), notice


STEPS: dict[str, type[OptimisticStep]] = {
    "optimistic": OptimisticCentral, "optimistic-local": OptimisticLocal, "optimistic-shuffled": OptimisticShuffled,
}  # fmt: skip


def optimistic_pieces(
    algorithm: str, *, epsilon: Number, delta: Number, horizon: Any, actions: Any, ball: Number = 1
) -> tuple[Setting, OptimisticStep, dp.Claim]:
    """Setting, privacy step and claim, for a face other than the subject."""
    if not Fraction(1, 2**30) <= positive(epsilon, "epsilon") <= 2**20:
        raise InvalidValue("epsilon", epsilon, "between 2^-30 and 2^20")
    setting, _ = make_setting(horizon, actions, ball)
    kind, shuffled = STEPS[algorithm], algorithm == "optimistic-shuffled"
    if shuffled and exact_delta(delta) == 0:
        raise InvalidValue("delta", delta, "greater than 0 for the shuffled model")
    claim = dp.Claim(epsilon, delta, "shuffled" if shuffled else "server")
    made = OptimisticShuffled(claim.epsilon, claim.delta) if shuffled else kind(claim.epsilon)  # type: ignore[call-arg]
    return setting, made, claim


def _make(
    name: str, step: type[OptimisticStep], epsilon: Number, delta: Number, horizon: Any, actions: Any, calibration: str,
    observer: str = "server", ball: Number = 1,
) -> Subject:  # fmt: skip
    if calibration != CALIBRATION:
        raise InvalidValue("calibration", calibration, f"left out, or {CALIBRATION!r}: {name} has no other")
    if not Fraction(1, 2**30) <= positive(epsilon, "epsilon") <= 2**20:
        raise InvalidValue("epsilon", epsilon, "between 2^-30 and 2^20")
    setting, notice = make_setting(horizon, actions, ball)
    claim = dp.Claim(epsilon, delta, observer)
    shuffled = step is OptimisticShuffled
    if shuffled and exact_delta(delta) == 0:
        raise InvalidValue("delta", delta, "greater than 0 for the shuffled model")
    made = OptimisticShuffled(claim.epsilon, claim.delta) if shuffled else step(claim.epsilon)  # type: ignore[call-arg]
    basis = "optimistic.privacy-" + step.name
    return optimistic_subject(f"{name} ({calibration})", setting, made, claim, notice=notice, basis=basis)


@in_table(Printed("optimistic, with proofs here", "central", "1/2"))
@in_demo(CALIBRATION, model="central")
def optimistic_central(
    *, epsilon: Number, delta: Number = 0, horizon: Any, actions: Any = None, calibration: str = CALIBRATION,
    ball: Number = 1,
) -> Subject:  # fmt: skip
    """A trusted server: every release is a batch's sum with Laplace noise 2/ε. ``ball``: |θ| is at most this."""
    return _make("optimistic", OptimisticCentral, epsilon, delta, horizon, actions, calibration, ball=ball)


@in_table(Printed("optimistic, with proofs here", "local", "1/2"))
@in_demo(CALIBRATION, model="local")
def optimistic_local(
    *, epsilon: Number, delta: Number = 0, horizon: Any, actions: Any = None, calibration: str = CALIBRATION,
    ball: Number = 1,
) -> Subject:  # fmt: skip
    """An untrusted server: clients send one randomised bit each."""
    return _make("optimistic-local", OptimisticLocal, epsilon, delta, horizon, actions, calibration, ball=ball)


@in_table(Printed("optimistic, with proofs here", "shuffled", "1/2"))
@in_demo(CALIBRATION, model="shuffled")
def optimistic_shuffled(
    *, epsilon: Number, delta: Number = "1e-6", horizon: Any, actions: Any = None, calibration: str = CALIBRATION,
    ball: Number = 1,
) -> Subject:  # fmt: skip
    """An untrusted server behind a trusted shuffler. Needs δ > 0."""
    return _make("optimistic-shuffled", OptimisticShuffled, epsilon, delta, horizon, actions, calibration, "shuffled", ball)
