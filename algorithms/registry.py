"""The registered algorithms. Each is a row of ``ALGORITHMS`` and a factory, which is an entry point of ``dpaudit.algorithms``.

To add one of this family: its privacy step (``elimination.setting.PrivacyStep``) in a file, a row and a factory here, and the
entry point. Any other algorithm needs a factory and its entry point only: it satisfies ``dpaudit.subjects.targets.Algorithm``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypedDict, Unpack

import dpaudit as dp
from algorithms.elimination.bandit_subject import bandit_subject, make_setting
from algorithms.elimination.central import Central, NonPrivate
from algorithms.elimination.confidence import CALIBRATIONS, Calibration
from algorithms.elimination.local import Local
from algorithms.elimination.setting import Design, PrivacyStep, Setting
from algorithms.elimination.shuffled import Shuffled
from dpaudit.claims import InvalidValue, Number, exact, exact_delta, positive
from dpaudit.subjects import Subject
from dpaudit.subjects.targets import Printed, in_demo, in_table

NO_PRIVACY = {"privacy": "none: rewards are used as they are; this is the yardstick for regret"}


@dataclass(frozen=True)
class PrivacyBudget:
    """What a privacy step is made for."""

    epsilon: Fraction
    delta: Fraction
    calibration: Calibration
    spread: Fraction  # of the rewards: high − low


@dataclass(frozen=True)
class Algorithm:
    """One of the family: how it makes batches private, whom its claim is about, and what that claim rests on."""

    name: str
    step: Callable[[PrivacyBudget], PrivacyStep]
    observer: str = "server"
    needs_delta: bool = False
    claims: Mapping[Calibration, str] = field(default_factory=dict)  # ids of claims about privacy; none: it claims nothing


ALGORITHMS = {
    row.name: row
    for row in (
        Algorithm(
            "central", lambda budget: Central(budget.epsilon, budget.calibration, budget.spread),
            claims={"printed": "thm1.privacy", "corrected": "fix.noise", "tight": "fix.noise"},
        ),
        Algorithm(
            "local", lambda budget: Local(budget.epsilon, budget.calibration, budget.spread),
            claims={"printed": "thm2.privacy", "corrected": "fix.noise", "tight": "fix.noise"},
        ),
        Algorithm(
            "shuffled", lambda budget: Shuffled(budget.epsilon, budget.delta, budget.calibration, budget.spread),
            observer="shuffled", needs_delta=True,
            claims={
                "printed": "thm3.privacy", "corrected": "fix.noise, fix.eps0-closed", "tight": "fix.noise, fix.eps0-clones",
            },
        ),
        Algorithm("nonprivate", lambda _: NonPrivate(), observer="actions"),
    )
}  # fmt: skip


class Choices(TypedDict, total=False):
    """What the paper leaves open. Rewards lie in [low, high], −1 and 1 without more ado."""

    low: Number
    high: Number
    design: Design
    maximum: str


@dataclass(frozen=True)
class _Parts:
    setting: Setting
    step: PrivacyStep
    claim: dp.Claim
    notice: str


def _parts(
    algorithm: Algorithm, epsilon: Number, delta: Number, horizon: Any, actions: Any, calibration: Calibration,
    low: Number = -1, high: Number = 1, **more: Any,
) -> _Parts:  # fmt: skip
    setting, notice = make_setting(horizon, actions, calibration, low, high, **more)
    if algorithm.needs_delta and exact_delta(delta) == 0:
        raise InvalidValue("delta", delta, f"greater than 0 for the {algorithm.name} model")
    if algorithm.claims and not Fraction(1, 2**30) <= positive(epsilon, "epsilon") <= 2**20:
        raise InvalidValue("epsilon", epsilon, "between 2^-30 and 2^20")
    claim = dp.Claim(epsilon, delta, algorithm.observer)
    budget = PrivacyBudget(claim.epsilon, claim.delta, calibration, exact(high) - exact(low))
    return _Parts(setting, algorithm.step(budget), claim, notice)


def _make(
    name: str, epsilon: Number, delta: Number, horizon: Any, actions: Any, calibration: Calibration, choices: Choices
) -> Subject:
    algorithm = ALGORITHMS[name]
    parts = _parts(algorithm, epsilon, delta, horizon, actions, calibration, **choices)
    privacy = {"claims": algorithm.claims[calibration]} if algorithm.claims else NO_PRIVACY
    return bandit_subject(name, parts.setting, parts.step, parts.claim, notice=parts.notice, privacy=privacy)


@in_table(Printed("the paper, Algorithm 1, tight", "central", "1/2"))
@in_demo(*CALIBRATIONS)
def central(
    *, epsilon: Number, delta: Number = 0, horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    **choices: Unpack[Choices],
) -> Subject:  # fmt: skip
    """Algorithm 1: a trusted server."""
    return _make("central", epsilon, delta, horizon, actions, calibration, choices)


def central_nocore(**parameters: Any) -> Subject:
    """Algorithm 1 without a core set: every active action is pulled and perturbed."""
    return central(**{**parameters, "design": "all"})


@in_table(Printed("the paper, Algorithm 2, tight", "local", "1/2"))
@in_demo(*CALIBRATIONS)
def local(
    *, epsilon: Number, delta: Number = 0, horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    **choices: Unpack[Choices],
) -> Subject:  # fmt: skip
    """Algorithm 2: an untrusted server; ``epsilon`` is ε0."""
    return _make("local", epsilon, delta, horizon, actions, calibration, choices)


@in_table(Printed("the paper, Algorithm 3, tight", "shuffled", "1/2"))
@in_demo(*CALIBRATIONS)
def shuffled(
    *, epsilon: Number, delta: Number = "1e-6", horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    **choices: Unpack[Choices],
) -> Subject:  # fmt: skip
    """Algorithm 3: an untrusted server behind a trusted shuffler. Needs δ > 0."""
    return _make("shuffled", epsilon, delta, horizon, actions, calibration, choices)


def nonprivate(
    *, epsilon: Number = 1, delta: Number = 0, horizon: Any, actions: Any = None, calibration: Calibration = "tight",
    **choices: Unpack[Choices],
) -> Subject:  # fmt: skip
    """The same loop without noise: the yardstick. ``epsilon`` is only what an audit holds it to."""
    return _make("nonprivate", epsilon, delta, horizon, actions, calibration, choices)


def pieces(
    algorithm: str, *, epsilon: Number, delta: Number, horizon: Any, actions: Any, calibration: Calibration,
    low: Number, high: Number, design: Design, maximum: str,
) -> tuple[Setting, PrivacyStep, dp.Claim]:  # fmt: skip
    """Setting, privacy step and claim of one of the private ones, for a face other than the subject."""
    private = [name for name, row in ALGORITHMS.items() if row.claims]
    if algorithm not in private:
        raise InvalidValue("algorithm", algorithm, "one of " + ", ".join(private))
    parts = _parts(
        ALGORITHMS[algorithm], epsilon, delta, horizon, actions, calibration, low, high, design=design, maximum=maximum
    )
    return parts.setting, parts.step, parts.claim
