"""The registered baselines: a row of ``SYSTEMS`` for each, and its factory, which is an entry point of ``dpaudit.algorithms``.

A baseline has the calibration ``printed`` only: the constants of its authors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.arms.ren import Ren
from algorithms.baselines.arms.sajed_sheffet import SajedSheffet
from algorithms.baselines.arms.tenenbaum import Tenenbaum
from algorithms.baselines.baseline_subject import baseline_subject
from algorithms.baselines.blocks import Setting, System
from algorithms.baselines.linear.chowdhury_zhou import ChowdhuryZhou
from algorithms.baselines.linear.chowdhury_zhou_binomial import ChowdhuryZhouBinomial
from algorithms.baselines.linear.garcelon import Garcelon
from algorithms.baselines.linear.han import Han
from algorithms.baselines.linear.han_gradient import HanGradient
from algorithms.baselines.linear.oful import Oful
from algorithms.baselines.linear.phased_elimination import Phased
from algorithms.baselines.linear.shariff_sheffet import ShariffSheffet
from algorithms.baselines.linear.wishart_tree import WishartTree
from algorithms.baselines.linear.zheng import Zheng
from algorithms.elimination.bandit_subject import action_array
from dpaudit.claims import InvalidValue, Number, exact_delta, positive, whole
from dpaudit.subjects import Subject
from dpaudit.subjects.targets import Printed, in_table, with_calibrations

CALIBRATION = "printed"
DELTA = "1e-6"  # where a claim needs one and none is given


@dataclass(frozen=True)
class Place:
    """What a system is made for: the claim's ε and δ, and the public size of the instance."""

    epsilon: Fraction
    delta: Fraction
    horizon: int
    dimension: int
    contexts: int = 1


@dataclass(frozen=True)
class Baseline:
    """One system of Table 1 or of the text."""

    name: str
    source: str
    make: Callable[[Place], System]
    model: str  # nonprivate, central, local or shuffled
    exponent: str  # of T in the claimed regret, as the paper's Table 1 and text give it
    approximate: bool = False  # its claim needs δ > 0
    unconfirmed: str = ""  # what could not be confirmed from the original paper; empty where all was
    unproven: str = ""  # why no theorem here carries its claim; empty where one does
    contextual: bool = False  # it may be run with stochastic contexts
    sums: bool = False  # what leaves its shuffler is a sum, released as such

    @property
    def observer(self) -> str:
        return {"nonprivate": "actions", "shuffled": "server" if self.sums else "shuffled"}.get(self.model, "server")


SYSTEMS = {
    row.name: row
    for row in (
        Baseline("oful", "Abbasi-Yadkori et al. 2011", lambda at: Oful(at.horizon), "nonprivate", "1/2", contextual=True),
        Baseline("phased-elimination", "Lattimore and Szepesvári 2020, ch. 22", lambda _: Phased(), "nonprivate", "1/2"),
        Baseline(
            "shariff-sheffet", "Shariff and Sheffet 2018, Gaussian tree",
            lambda at: ShariffSheffet(at.epsilon, at.delta, at.horizon, at.dimension, at.contexts), "central", "1/2",
            approximate=True, unconfirmed="shift, from a public implementation, and width; a leaf of its tree is a block",
            contextual=True,
        ),
        Baseline(
            "shariff-sheffet-wishart", "Shariff and Sheffet 2018, Wishart tree",
            lambda at: WishartTree(at.epsilon, at.delta, at.horizon, at.dimension, at.contexts), "central", "1/2",
            approximate=True, unconfirmed="degrees of freedom and width; a leaf of its tree is a block", contextual=True,
        ),
        Baseline(
            "sajed-sheffet", "Sajed and Sheffet 2019", lambda at: SajedSheffet(at.epsilon, at.horizon), "central", "1/2",
            unconfirmed="constants, from a public implementation",
        ),
        Baseline(
            "ren", "Ren et al. 2020", lambda at: Ren(at.epsilon), "local", "1/2", unconfirmed="the constant of the index",
        ),
        Baseline(
            "tenenbaum", "Tenenbaum et al. 2021", lambda at: Tenenbaum(at.epsilon, at.delta, at.horizon), "shuffled", "1/2",
            approximate=True, unconfirmed="the protocol (Cheu et al. 2019 in its place) and the widths",
        ),
        Baseline(
            "zheng", "Zheng et al. 2020", lambda at: Zheng(at.epsilon, at.delta, at.horizon, at.dimension), "local", "3/4",
            approximate=True, unconfirmed="shift and width, from a public implementation", contextual=True,
        ),
        Baseline(
            "han", "Han et al. 2021, least squares", lambda at: Han(at.epsilon, at.delta, at.horizon, at.dimension), "local",
            "1/2", approximate=True, unconfirmed="σ and shift; needs contexts of much variety", contextual=True,
        ),
        Baseline(
            "han-gradient", "Han et al. 2021, gradients", lambda at: HanGradient(at.epsilon, at.dimension), "local", "1/2",
            unconfirmed="steps and the constants of the mechanism; needs contexts of much variety", contextual=True,
        ),
        Baseline(
            "garcelon", "Garcelon et al. 2022", lambda at: Garcelon(at.epsilon, at.delta, at.horizon, at.dimension), "shuffled",
            "2/3", approximate=True, unconfirmed="batch length and widths", contextual=True,
        ),
        Baseline(
            "chowdhury-zhou", "Chowdhury and Zhou 2022, amplified",
            lambda at: ChowdhuryZhou(at.epsilon, at.delta, at.horizon, at.dimension), "shuffled", "3/5",
            approximate=True, unconfirmed="σ, batch length and widths",
            unproven="no theorem here amplifies shuffled Gaussian reports: they are charged unshuffled", contextual=True,
        ),
        Baseline(
            "chowdhury-zhou-binomial", "Chowdhury and Zhou 2022, vector sums",
            lambda at: ChowdhuryZhouBinomial(at.epsilon, at.delta, at.horizon, at.dimension), "shuffled", "3/5",
            approximate=True, unconfirmed="the constant of the coins (here fair ones that hide bits), batch length and widths",
            contextual=True, sums=True,
        ),
    )
}  # fmt: skip


def make_setting(horizon: Any, actions: Any, contexts: int = 1) -> tuple[Setting, str]:
    """What is public and fixed in advance, checked; and a notice about the actions."""
    rounds = whole(horizon, "horizon", 3)
    if rounds > 2**32:
        raise InvalidValue("horizon", horizon, "at most 2^32")
    points, notice = action_array(actions, rounds)
    if np.linalg.norm(points, axis=1).max() > 1 + 1e-12:
        raise InvalidValue("actions", "an action longer than 1", "of norm at most 1")
    return Setting(points, rounds, contexts=contexts), notice


def make_baseline(
    name: str, epsilon: Number, delta: Number | None, horizon: Any, actions: Any, calibration: str, contexts: Any = 1
) -> Subject:
    """The system as a subject. ``contexts``: its evaluation draws one of so many sets of actions in each round.

    Raises InvalidValue for another calibration, a δ that its claim cannot have, or contexts where it is not made for them."""
    row = SYSTEMS[name]
    if calibration != CALIBRATION:
        raise InvalidValue("calibration", calibration, f"left out: {name} has the constants of its authors only")
    if not Fraction(1, 2**20) <= positive(epsilon, "epsilon") <= 2**10:
        raise InvalidValue("epsilon", epsilon, "between 2^-20 and 2^10")
    chosen = (DELTA if row.approximate else 0) if delta is None else delta
    if row.approximate and not 0 < exact_delta(chosen) < 1:
        raise InvalidValue("delta", chosen, f"above 0 for {name}")
    if whole(contexts, "contexts", 1, 1000) > 1 and not row.contextual:
        raise InvalidValue("contexts", contexts, f"left out: {name} has the same actions in every round")
    setting, notice = make_setting(horizon, actions, int(contexts))
    claim = dp.Claim(epsilon, chosen, row.observer)
    system = row.make(Place(claim.epsilon, claim.delta, setting.horizon, setting.actions.shape[1], setting.contexts))
    notes = {"source": row.source, "model": row.model}
    notes |= {"unconfirmed": row.unconfirmed} if row.unconfirmed else {}
    notes |= {"unproven": row.unproven} if row.unproven else {}
    notes |= {"notice": notice} if notice else {}
    notes |= {"privacy": "none: rewards are used as they are"} if row.model == "nonprivate" else {}
    return baseline_subject(name, setting, system, claim, notes)


def _factory(name: str) -> Callable[..., Subject]:
    @with_calibrations(CALIBRATION)
    def factory(
        *, epsilon: Number = 1, delta: Number | None = None, horizon: Any, actions: Any = None, calibration: str = CALIBRATION,
        contexts: Any = 1,
    ) -> Subject:  # fmt: skip
        return make_baseline(name, epsilon, delta, horizon, actions, calibration, contexts)

    row = SYSTEMS[name]
    factory.__doc__ = f"{row.source}: {row.model}."
    return in_table(Printed(row.source, row.model, row.exponent, row.unconfirmed, row.contextual))(factory)


(
    oful, phased_elimination, shariff_sheffet, shariff_sheffet_wishart, sajed_sheffet, ren, tenenbaum, zheng, han, han_gradient,
    garcelon, chowdhury_zhou, chowdhury_zhou_binomial,
) = (_factory(name) for name in SYSTEMS)  # fmt: skip
