"""The paper's algorithms deployed on sealed rewards: every release is traced, and the sensitivity is the range of one reward."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence, Stochastic, Table
from dpaudit.ledger import MemoryLedger
from dpaudit.subjects.targets import make_algorithm

T, K = 3000, 10


def rewards() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "sequence": Sequence(rng.uniform(-1, 1, T)),
        "table": Table(rng.uniform(-1, 1, (T, K))),
        "one exception": ConstantExceptOne(0.5, 7, -1.0),
        "environment": Stochastic(rng.uniform(-1, 1, K), rng),
    }


@pytest.mark.parametrize("form", rewards().keys())
@pytest.mark.parametrize("model", ["central", "local", "shuffled"])
def test_every_release_of_a_deployment_is_proven(model: str, form: str) -> None:
    """A door for proven releases within the claim takes them all, on every form of rewards."""
    delta = "1e-6" if model == "shuffled" else "0"
    subject = make_algorithm(model, {"epsilon": "1", "delta": delta, "horizon": T, "calibration": "tight"})
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, subject.claim, proven=True) as channel:
        subject.run(SealedRewards(rewards()[form]), channel)
    releases = list(ledger.releases())
    assert releases
    assert {release.derived for release in releases} == {Fraction(2)}
    assert not channel.untraced
    assert ledger.spent()[0] <= 1


@pytest.mark.parametrize("model", ["central", "local", "shuffled"])
def test_the_same_door_refuses_plain_rewards(model: str) -> None:
    delta = "1e-6" if model == "shuffled" else "0"
    subject = make_algorithm(model, {"epsilon": "1", "delta": delta, "horizon": T, "calibration": "tight"})
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, subject.claim, proven=True) as channel, pytest.raises(dp.DpauditError, match="proven releases only"):
        subject.run(rewards()["sequence"], channel)
    assert not list(ledger.releases())
